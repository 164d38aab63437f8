// What an incompressible flow carries: central differences of second order, Adams-Bashforth in time.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "adams_bashforth.h"

// Net flow out of a cell along one direction: of q carried by the velocity U through both faces, and the second difference
// of q.
struct Flow {
  real carried, curvature;
};

FN Flow flow(In q, In U, Index c, Index step, real inverse) {
  const real below = q[c - step], here = q[c], above = q[c + step];
  const real carried = real(0.5) * inverse * (U[c + step] * (here + above) - U[c] * (below + here));
  return {carried, inverse * inverse * (below - 2 * here + above)};
}

// q_new = q + dt ((1 + r/2) H - r/2 H_old), H = -div(u q) + diffusivity Laplacian(q) + source; H replaces H_old.
TASK transport(Range range, In q, In u, In v, In w, InOut h_q, Out q_new, In64 dt, In64 ratio, Grid grid,
               Transport transport) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Flow x = flow(q, u, c, X, grid.inverse[0]), y = flow(q, v, c, Y, grid.inverse[1]);
    const Flow z = flow(q, w, c, Z, grid.inverse[2]);
    const real convection = x.carried + y.carried + z.carried, laplacian = x.curvature + y.curvature + z.curvature;
    const real H = transport.diffusivity * laplacian - convection + transport.source;
    const real old = h_q[c];
    h_q[c] = H;
    q_new[c] = scheme.advance(q[c], H, old);
  });
}
