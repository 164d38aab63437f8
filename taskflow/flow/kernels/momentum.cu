// Momentum of a Boussinesq fluid on the MAC grid: central differences of second order, Adams-Bashforth in time.
// u[i] lives on the low x-face of cell i, v[j] on the low y-face, w[k] on the low z-face.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "adams_bashforth.h"

// A direction: from a cell to the next, and one over their distance.
struct Axis {
  Index step;
  real inverse;
};

// H = -div(q U) + viscosity Laplacian(q) at the low face across `a` of cell c: q is the velocity along a; r and s are
// those along b and d.
FN real tendency(In q, In r, In s, Index c, Axis a, Axis b, Axis d, real viscosity) {
  const Index A = a.step, B = b.step, D = d.step;
  const real here = q[c];
  const real a_low = q[c - A] + here, a_high = here + q[c + A];  // twice q in the cells on both sides of the face
  const real b_low = q[c - B] + here, b_high = here + q[c + B];  // twice q on the edges across b ...
  const real d_low = q[c - D] + here, d_high = here + q[c + D];
  const real r_low = r[c - A] + r[c], r_high = r[c - A + B] + r[c + B];  // ... and what carries it there, twice
  const real s_low = s[c - A] + s[c], s_high = s[c - A + D] + s[c + D];
  const real convection = a.inverse * (a_high * a_high - a_low * a_low) +
                          b.inverse * (r_high * b_high - r_low * b_low) +
                          d.inverse * (s_high * d_high - s_low * d_low);
  const real two = 2 * here;
  const real laplacian = a.inverse * a.inverse * (q[c - A] - two + q[c + A]) +
                         b.inverse * b.inverse * (q[c - B] - two + q[c + B]) +
                         d.inverse * d.inverse * (q[c - D] - two + q[c + D]);
  return viscosity * laplacian - real(0.25) * convection;
}

// What happens to a face, unless it lies on a wall.
FN real unless(bool on_wall, real kept, real next) { return on_wall ? kept : next; }

// u* = u + dt ((1 + r/2) H - r/2 H_old), H = -div(u u) + viscosity Laplacian(u) + force; H replaces H_old.
TASK momentum(Range range, In u, In v, In w, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new, In64 dt,
              In64 ratio, Grid grid, Fluid fluid) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  const Axis x{X, grid.inverse[0]}, y{Y, grid.inverse[1]}, z{Z, grid.inverse[2]};
  for_cells(range, CELL(c) {
    const real H_u = tendency(u, v, w, c, x, y, z, fluid.viscosity) + fluid.force[0];
    const real H_v = tendency(v, u, w, c, y, x, z, fluid.viscosity) + fluid.force[1];
    const real H_w = tendency(w, u, v, c, z, x, y, fluid.viscosity) + fluid.force[2];
    const real next_u = unless(c.i == grid.first[0], u[c], scheme.advance(u[c], H_u, h_u[c]));
    const real next_v = unless(c.j == grid.first[1], v[c], scheme.advance(v[c], H_v, h_v[c]));
    const real next_w = unless(c.k == grid.first[2], w[c], scheme.advance(w[c], H_w, h_w[c]));
    loaded();
    h_u[c] = unless(c.i == grid.first[0], 0, H_u), u_new[c] = next_u;
    h_v[c] = unless(c.j == grid.first[1], 0, H_v), v_new[c] = next_v;
    h_w[c] = unless(c.k == grid.first[2], 0, H_w), w_new[c] = next_w;
  });
}

// The same with buoyancy: H gains -expansion (T - reference) gravity, T being the mean of the cells on both sides of
// the face.
TASK momentum_buoyant(Range range, In u, In v, In w, In T, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new,
                      Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid, Buoyancy buoyancy) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  const Axis x{X, grid.inverse[0]}, y{Y, grid.inverse[1]}, z{Z, grid.inverse[2]};
  for_cells(range, CELL(c) {
    const real warmth = T[c] - 2 * buoyancy.reference;
    const real lift = real(-0.5) * buoyancy.expansion;
    const real B_u = lift * (T[c - X] + warmth) * buoyancy.gravity[0];
    const real B_v = lift * (T[c - Y] + warmth) * buoyancy.gravity[1];
    const real B_w = lift * (T[c - Z] + warmth) * buoyancy.gravity[2];
    const real H_u = tendency(u, v, w, c, x, y, z, fluid.viscosity) + fluid.force[0] + B_u;
    const real H_v = tendency(v, u, w, c, y, x, z, fluid.viscosity) + fluid.force[1] + B_v;
    const real H_w = tendency(w, u, v, c, z, x, y, fluid.viscosity) + fluid.force[2] + B_w;
    const real next_u = unless(c.i == grid.first[0], u[c], scheme.advance(u[c], H_u, h_u[c]));
    const real next_v = unless(c.j == grid.first[1], v[c], scheme.advance(v[c], H_v, h_v[c]));
    const real next_w = unless(c.k == grid.first[2], w[c], scheme.advance(w[c], H_w, h_w[c]));
    loaded();
    h_u[c] = unless(c.i == grid.first[0], 0, H_u), u_new[c] = next_u;
    h_v[c] = unless(c.j == grid.first[1], 0, H_v), v_new[c] = next_v;
    h_w[c] = unless(c.k == grid.first[2], 0, H_w), w_new[c] = next_w;
  });
}
