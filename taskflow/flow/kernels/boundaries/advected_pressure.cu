// Outflow where the pressure is carried out: what drives the normal velocity on the face.
#define UZ 1
#include "cell.h"
#include "../metrics.h"

FN double most_one(double share) { return share > 1 ? 1 : share; }

// On one side of the domain: `cell` leads from the layer beyond it, and from the face, to where the pressure of that layer
// and of the cell inside is; `low` and `high` to the cells beside the next face inside, `next` to that face, which is the low
// one of the cell number n from there.
#define ADVECTED(name, number, i_, A, inside, layer, low, high, n)                                                   \
  /* The pressure that is carried to the face: that on the next face inside, less what drives its velocity */        \
  TASK approach_##name(Range range, In p, In q_new, In q, Out rhs, In64 dt, Grid grid, Outlet outlet) {              \
    STRIDES(range)                                                                                                   \
    const real part = real(0.5 * outlet.width * outlet.sign / *dt);                                                  \
    for_cells(range, CELL(c) {                                                                                       \
      const Axis a = axis(grid, number, c.i_, A);                                                                    \
      const real driven = q_new[c + (high)] - q[c + (high)];                                                         \
      rhs[c] = real(0.5) * a.twice_between(p[c + (low)], p[c + (high)], n) - part * driven;                          \
    });                                                                                                              \
  }                                                                                                                  \
  /* P, in the layer beyond, is replaced by what comes from inside, and fades */                                     \
  TASK advect_##name(Range range, InOut P, In rhs, In64 dt, In64 throughflow, Outlet outlet) {                       \
    STRIDES(range)                                                                                                   \
    const double way = *dt * *throughflow;                                                                           \
    const real share = real(most_one(way / outlet.width));                                                           \
    const real kept = real(way > 0 ? 1 - most_one(way / outlet.reach) : 0);                                          \
    for_cells(range, CELL(c) { P[c] = kept * (P[c] + share * (rhs[c + (inside)] - P[c])); });                        \
  }                                                                                                                  \
  /* q_new = q - sign dt P / (width / 2): all that acts on the face but for the pressure in the cell inside */       \
  TASK drive_##name(Range range, In q, In P, Out q_new, In64 dt, Outlet outlet) {                                    \
    STRIDES(range)                                                                                                   \
    const real step = real(2 * *dt * outlet.sign / outlet.width);                                                    \
    for_cells(range, CELL(c) { q_new[c] = q[c] - step * P[c + (layer)]; });                                          \
  }

ADVECTED(x_min, 0, i, X, X, -X, 0, X, 1)
ADVECTED(x_max, 0, i, X, -X, 0, -X, 0, 0)
ADVECTED(y_min, 1, j, Y, Y, -Y, 0, Y, 1)
ADVECTED(y_max, 1, j, Y, -Y, 0, -Y, 0, 0)
ADVECTED(z_min, 2, k, Z, Z, -Z, 0, Z, 1)
ADVECTED(z_max, 2, k, Z, -Z, 0, -Z, 0, 0)
