// Momentum of a Boussinesq fluid on the MAC grid: central differences of second order, Adams-Bashforth in time.
// u[i] lives on the low x-face of cell i, v[j] on the low y-face, w[k] on the low z-face.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 1
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
  const real convection = a.inverse * (a_high * a_high - a_low * a_low) + b.inverse * (r_high * b_high - r_low * b_low) +
                          d.inverse * (s_high * d_high - s_low * d_low);
  const real two = 2 * here;
  const real laplacian = a.inverse * a.inverse * (q[c - A] - two + q[c + A]) +
                         b.inverse * b.inverse * (q[c - B] - two + q[c + B]) +
                         d.inverse * d.inverse * (q[c - D] - two + q[c + D]);
  return viscosity * laplacian - real(0.25) * convection;
}

// One component in one cell at the end of the step: what replaces H_old, and the velocity.
struct Next {
  real tendency, velocity;
};

// A face that lies on a wall keeps its velocity.
FN Next predicted(In q, const real* H_old, Index c, bool on_wall, real H, AdamsBashforth scheme) {
  const real here = q[c], next = scheme.advance(here, H, H_old[c]);
  return {on_wall ? real(0) : H, on_wall ? here : next};
}

// What a cell becomes, once everything that it follows from has been loaded.
FN void store(Index c, Next u, Next v, Next w, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new) {
  loaded();
  h_u[c] = u.tendency, h_v[c] = v.tendency, h_w[c] = w.tendency;
  u_new[c] = u.velocity, v_new[c] = v.velocity, w_new[c] = w.velocity;
}

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
    const Next next_u = predicted(u, h_u, c, c.i == grid.first[0], H_u, scheme);
    const Next next_v = predicted(v, h_v, c, c.j == grid.first[1], H_v, scheme);
    const Next next_w = predicted(w, h_w, c, c.k == grid.first[2], H_w, scheme);
    store(c, next_u, next_v, next_w, h_u, h_v, h_w, u_new, v_new, w_new);
  }, In(h_u), In(h_v), In(h_w), u + Z, v + Z, w + Z);
}

// The same with buoyancy: H gains -expansion (T - reference) gravity, T being the mean of the cells on both sides of
// the face.
TASK momentum_buoyant(Range range, In u, In v, In w, In T, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                      In64 dt, In64 ratio, Grid grid, Fluid fluid, Buoyancy buoyancy) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  const Axis x{X, grid.inverse[0]}, y{Y, grid.inverse[1]}, z{Z, grid.inverse[2]};
  for_cells(range, CELL(c) {
    const real warmth = T[c] - 2 * buoyancy.reference;
    const real lift = real(-0.5) * buoyancy.expansion;
    const real H_u = tendency(u, v, w, c, x, y, z, fluid.viscosity) + fluid.force[0];
    const real H_v = tendency(v, u, w, c, y, x, z, fluid.viscosity) + fluid.force[1];
    const real H_w = tendency(w, u, v, c, z, x, y, fluid.viscosity) + fluid.force[2];
    const real B_u = lift * (T[c - X] + warmth) * buoyancy.gravity[0];
    const real B_v = lift * (T[c - Y] + warmth) * buoyancy.gravity[1];
    const real B_w = lift * (T[c - Z] + warmth) * buoyancy.gravity[2];
    const Next next_u = predicted(u, h_u, c, c.i == grid.first[0], H_u + B_u, scheme);
    const Next next_v = predicted(v, h_v, c, c.j == grid.first[1], H_v + B_v, scheme);
    const Next next_w = predicted(w, h_w, c, c.k == grid.first[2], H_w + B_w, scheme);
    store(c, next_u, next_v, next_w, h_u, h_v, h_w, u_new, v_new, w_new);
  }, In(h_u), In(h_v), In(h_w), u + Z, v + Z, w + Z, T + Z);
}
