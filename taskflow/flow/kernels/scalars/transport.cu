// What an incompressible flow carries: central differences of second order, Adams-Bashforth in time.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../metrics.h"
#include "diffusivity.h"

// One diffusivity everywhere, a factor of the whole.
struct Molecular {
  real diffusivity;

  INLINE real bend(real below, real here, real above, Index, Axis a) const { return a.bend_in_cells(below, 2 * here, above); }
  INLINE real times(real laplacian) const { return diffusivity * laplacian; }
};

// One that differs between faces.
struct Turbulent {
  Stirred diffusivity;

  INLINE real bend(real below, real here, real above, Index c, Axis a) const {
    const real low = diffusivity.between(c - a.step, c), high = diffusivity.between(c, c + a.step);
    return a.outer_in_cells() *
           (high * (a.inner_in_cells(1) * (above - here)) - low * (a.inner_in_cells(0) * (here - below)));
  }
  INLINE real times(real diffusion) const { return diffusion; }
};

// Net flow out of a cell along one direction: of q carried by the velocity U through both faces, and the second derivative
// of q, with the diffusivities that differ between faces.
struct Flow {
  real carried, curvature;
};

template <class Diffusion>
FN Flow flow(In q, In U, Index c, Axis a, const Diffusion& diffusion) {
  const real below = q[c - a.step], here = q[c], above = q[c + a.step];
  const real carried = real(0.5) * a.per_cell() * (U[c + a.step] * (here + above) - U[c] * (below + here));
  return {carried, diffusion.bend(below, here, above, c, a)};
}

// q_new = q + dt ((1 + r/2) H - r/2 H_old), H = -div(u q) + diffusion + source; H replaces H_old.
template <class Diffusion>
FN void advance(const Range& range, In q, In u, In v, In w, InOut h_q, Out q_new, In64 dt, In64 ratio, const Grid& grid,
                real source, Diffusion diffusion) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Flow x = flow(q, u, c, axis(grid, 0, c.i, X), diffusion), y = flow(q, v, c, axis(grid, 1, c.j, Y), diffusion);
    const Flow z = flow(q, w, c, axis(grid, 2, c.k, Z), diffusion);
    const real convection = x.carried + y.carried + z.carried, curvature = x.curvature + y.curvature + z.curvature;
    const real H = diffusion.times(curvature) - convection + source;
    const real old = h_q[c];
    h_q[c] = H;
    q_new[c] = scheme.advance(q[c], H, old);
  });
}

TASK transport(Range range, In q, In u, In v, In w, InOut h_q, Out q_new, In64 dt, In64 ratio, Grid grid,
               Transport transport) {
  advance(range, q, u, v, w, h_q, q_new, dt, ratio, grid, transport.source, Molecular{transport.diffusivity});
}

TASK transport_eddy(Range range, In q, In u, In v, In w, In nu_t, InOut h_q, Out q_new, In64 dt, In64 ratio, Grid grid,
                    Transport transport, real prandtl) {
  const Turbulent diffusion{{transport.diffusivity, real(0.5) / prandtl, nu_t}};
  advance(range, q, u, v, w, h_q, q_new, dt, ratio, grid, transport.source, diffusion);
}
