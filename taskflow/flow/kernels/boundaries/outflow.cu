// What leaves is carried out, or pushed out by the pressure.
#define UZ 1
#include "cell.h"

// How much of the difference to the next value inside is carried out in dt: at most all of it, and nothing backward
FN real carried(In64 dt, In64 throughflow, const Opening& opening) {
  const double share = *dt * *throughflow * opening.inverse;
  return real(share < 0 ? 0 : share > 1 ? 1 : share);
}

// On one side of the domain: `inside` is one step into it, `cell` leads from a face to the cell inside.
#define OUTFLOWS(name, inside, cell)                                                              \
  TASK convect_##name(Range range, Out q_new, In q, In64 dt, In64 throughflow, Opening opening) { \
    STRIDES(range)                                                                                \
    const real share = carried(dt, throughflow, opening);                                         \
    for_cells(range, CELL(c) { q_new[c] = q[c] - share * (q[c] - q[c + (inside)]); });            \
  }                                                                                               \
  TASK follow_##name(Range range, InOut q_new, In q) {                                            \
    STRIDES(range)                                                                                \
    for_cells(range, CELL(c) { q_new[c] = q[c] + (q_new[c + (inside)] - q[c + (inside)]); });     \
  }                                                                                               \
  TASK release_##name(Range range, InOut q, In p, In64 dt, Opening opening) {                     \
    STRIDES(range)                                                                                \
    const real step = real(2 * *dt) * opening.inverse * opening.sign;                             \
    for_cells(range, CELL(c) { q[c] += step * p[c + (cell)]; });                                  \
  }

OUTFLOWS(x_min, X, 0)
OUTFLOWS(x_max, -X, -X)
OUTFLOWS(y_min, Y, 0)
OUTFLOWS(y_max, -Y, -Y)
OUTFLOWS(z_min, Z, 0)
OUTFLOWS(z_max, -Z, -Z)

// q plus the constant with which its mean is sign throughflow
TASK balance(Range range, InOut q, ExactIn64<1> total, In64 throughflow, Opening opening) {
  const real shift = real(opening.sign * *throughflow - total[0] / opening.faces);
  for_cells(range, CELL(c) { q[c] += shift; });
}
