// Heat in an incompressible fluid: central differences of second order, Adams-Bashforth in time.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "adams_bashforth.h"

// Net flow out of a cell along one direction: of T carried by q through both faces, and the second difference of T.
struct Flow {
  real carried, curvature;
};

FN Flow flow(In T, In q, Index c, Index step, real inverse) {
  const real below = T[c - step], here = T[c], above = T[c + step];
  const real carried = real(0.5) * inverse * (q[c + step] * (here + above) - q[c] * (below + here));
  return {carried, inverse * inverse * (below - 2 * here + above)};
}

// T_new = T + dt ((1 + r/2) H - r/2 H_old), H = -div(u T) + diffusivity Laplacian(T) + source; H replaces H_old.
TASK heat(Range range, In T, In u, In v, In w, InOut h_T, Out T_new, In64 dt, In64 ratio, Grid grid, Heat heat) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Flow x = flow(T, u, c, X, grid.inverse[0]), y = flow(T, v, c, Y, grid.inverse[1]);
    const Flow z = flow(T, w, c, Z, grid.inverse[2]);
    const real convection = x.carried + y.carried + z.carried, laplacian = x.curvature + y.curvature + z.curvature;
    const real H = heat.diffusivity * laplacian - convection + heat.source;
    const real old = h_T[c];
    h_T[c] = H;
    T_new[c] = scheme.advance(T[c], H, old);
  });
}
