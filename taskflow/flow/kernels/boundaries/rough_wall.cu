// Rough walls: eddy viscosities and temperatures in the layer of ghost cells beyond them. N leads one cell into the domain, r
// and s are the velocities along the wall.
#define UZ 1
#include "cell.h"

// nu_t[ghost] such that its mean with nu_t[inside] is factor |u| - viscosity, or 0 where that is negative
TASK apply_log_law(Range range, In r, In s, InOut nu_t, LogLaw law) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Index i = c + N;
    const real first = real(0.5) * (r[i] + r[i + R]) - law.first;
    const real second = real(0.5) * (s[i] + s[i + S]) - law.second;
    const real on_wall = law.factor * root(first * first + second * second) - law.viscosity;
    nu_t[c] = 2 * larger(on_wall, real(0)) - nu_t[i];
  });
}

// T[ghost] such that K (T[ghost] - T[inside]) is supply - 2 loss times the mean of both, K being the diffusivity on the wall
TASK apply_wall_flux(Range range, InOut T, In nu_t, WallFlux wall) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Index i = c + N;
    const real K = wall.diffusivity + wall.half_inverse_prandtl * (nu_t[i] + nu_t[c]);
    T[c] = ((K - wall.loss) * T[i] + wall.supply) / (K + wall.loss);
  });
}
