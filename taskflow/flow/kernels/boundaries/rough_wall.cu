// What rough walls do: eddy viscosities and temperatures beyond them.
#define UZ 1
#include "cell.h"

// The range is the layer of ghost cells; `inside` is one step into the domain, r and s are the velocities along the wall,
// R and S the steps along them.
#define ROUGH_WALL(name, inside, R, S)                                                                            \
  /* nu_t such that on the wall, in the mean with the cell inside, it is factor |u| - viscosity, or 0 */          \
  TASK drag_##name(Range range, In r, In s, InOut nu_t, LogLaw law) {                                             \
    STRIDES(range)                                                                                                \
    for_cells(range, CELL(c) {                                                                                    \
      const Index i = c + (inside);                                                                               \
      const real first = real(0.5) * (r[i] + r[i + R]) - law.first;                                               \
      const real second = real(0.5) * (s[i] + s[i + S]) - law.second;                                             \
      const real on_wall = law.factor * root(first * first + second * second) - law.viscosity;                    \
      nu_t[c] = 2 * larger(on_wall, real(0)) - nu_t[i];                                                           \
    });                                                                                                           \
  }                                                                                                               \
  /* T such that on the wall K (T - T_inside) is supply - 2 loss times the mean of both */                        \
  TASK warm_##name(Range range, InOut T, In nu_t, Warmth warmth) {                                                \
    STRIDES(range)                                                                                                \
    for_cells(range, CELL(c) {                                                                                    \
      const Index i = c + (inside);                                                                               \
      const real K = warmth.diffusivity + warmth.half * (nu_t[i] + nu_t[c]);                                      \
      T[c] = ((K - warmth.loss) * T[i] + warmth.supply) / (K + warmth.loss);                                      \
    });                                                                                                           \
  }

ROUGH_WALL(x_min, X, Y, Z)
ROUGH_WALL(x_max, -X, Y, Z)
ROUGH_WALL(y_min, Y, X, Z)
ROUGH_WALL(y_max, -Y, X, Z)
ROUGH_WALL(z_min, Z, X, Y)
ROUGH_WALL(z_max, -Z, X, Y)
