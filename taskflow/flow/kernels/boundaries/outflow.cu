// Outflow: the velocity and the temperature are carried out, or follow what is inside. N leads one cell into the domain.
#define UZ 1
#include "cell.h"

// The Courant number of what leaves: at most 1, and 0 where nothing does
FN real courant(In64 dt, In64 outflow_speed, const Opening& opening) {
  const double number = *dt * *outflow_speed * opening.inverse;
  return real(number < 0 ? 0 : number > 1 ? 1 : number);
}

// q_new = q - C (q - q[inside])
TASK convect(Range range, Out q_new, In q, In64 dt, In64 outflow_speed, Opening opening) {
  FRAME(range)
  const real C = courant(dt, outflow_speed, opening);
  for_cells(range, CELL(c) { q_new[c] = q[c] - C * (q[c] - q[c + N]); });
}

// q_new = q + q_new[inside] - q[inside]
TASK extrapolate(Range range, InOut q_new, In q) {
  FRAME(range)
  for_cells(range, CELL(c) { q_new[c] = q[c] + (q_new[c + N] - q[c + N]); });
}

FN real weighted(None, Index, real p) { return p; }
FN real weighted(In b, Index c, real p) { return b[c] * p; }

// q += sign dt b p / (spacing / 2), p being that of the cell inside the face; b = 1 where there is none
TASK correct_outlet(Range range, InOut q, In p OPTIONAL(b), In64 dt, Opening opening) {
  FRAME(range)
  const real step = real(2 * *dt) * opening.inverse * opening.sign;
  for_cells(range, CELL(c) { q[c] += step * weighted(b, c, p[c + (HIGH ? N : 0)]); });
}

// q -= sign dt pressure / (spacing / 2)
TASK push_outlet(Range range, InOut q, In64 dt, In64 pressure, Opening opening) {
  const real push = real(2 * *dt * *pressure) * opening.inverse * opening.sign;
  for_cells(range, CELL(c) { q[c] -= push; });
}

// q plus the constant with which its mean is sign outflow_speed
TASK balance(Range range, InOut q, ExactIn64<1> total, In64 outflow_speed, Opening opening) {
  const real shift = real(opening.sign * *outflow_speed - total[0] / opening.faces);
  for_cells(range, CELL(c) { q[c] += shift; });
}
