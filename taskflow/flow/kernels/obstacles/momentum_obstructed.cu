// Momentum beside bodies: as in momentum.cu, but faces of solid cells keep their velocity, and those with buried
// neighbours are slowed down by them.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 1
#define PLANES 1
#include "cell.h"
#include "../momentum.h"
#include "../flags.h"

// What H loses at a face in this state
FN real drag(In q, Index c, int state, Axis b, Axis d, real viscosity) {
  return viscosity * sticking(state, q[c], b.inverse, d.inverse);
}

// u* = u + dt ((1 + r/2) H - r/2 H_old), H = -div(u u) + viscosity Laplacian(u) + force; H replaces H_old.
TASK momentum_obstructed(Range range, In u, In v, In w, InShort faces, InOut h_u, InOut h_v, InOut h_w, Out u_new,
                         Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const int states = faces[c];
    const int at_u = face_state(states, 0), at_v = face_state(states, 1), at_w = face_state(states, 2);
    const real nu = fluid.viscosity;
    const Molecular friction{nu};
    const real H_u = tendency(u, v, w, c, x, y, z, friction) - drag(u, c, at_u, y, z, nu) + fluid.force[0];
    const real H_v = tendency(v, u, w, c, y, x, z, friction) - drag(v, c, at_v, x, z, nu) + fluid.force[1];
    const real H_w = tendency(w, u, v, c, z, x, y, friction) - drag(w, c, at_w, x, y, nu) + fluid.force[2];
    const Next next_u = predicted(u, h_u, c, (c.i == grid.first[0]) | (at_u == CLOSED), H_u, scheme);
    const Next next_v = predicted(v, h_v, c, (c.j == grid.first[1]) | (at_v == CLOSED), H_v, scheme);
    const Next next_w = predicted(w, h_w, c, (c.k == grid.first[2]) | (at_w == CLOSED), H_w, scheme);
    store(c, next_u, next_v, next_w, h_u, h_v, h_w, u_new, v_new, w_new);
  }, In(h_u), In(h_v), In(h_w), u + Z, v + Z, w + Z);
}

// The same with buoyancy: H gains -expansion (T - reference) gravity, T being the mean of the cells on both sides of
// the face.
TASK momentum_buoyant_obstructed(Range range, In u, In v, In w, In T, InShort faces, InOut h_u, InOut h_v, InOut h_w,
                                 Out u_new, Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid,
                                 Buoyancy buoyancy) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const int states = faces[c];
    const int at_u = face_state(states, 0), at_v = face_state(states, 1), at_w = face_state(states, 2);
    const real nu = fluid.viscosity, warmth = T[c] - 2 * buoyancy.reference;
    const Molecular friction{nu};
    const real lift = real(-0.5) * buoyancy.expansion;
    const real H_u = tendency(u, v, w, c, x, y, z, friction) - drag(u, c, at_u, y, z, nu) + fluid.force[0];
    const real H_v = tendency(v, u, w, c, y, x, z, friction) - drag(v, c, at_v, x, z, nu) + fluid.force[1];
    const real H_w = tendency(w, u, v, c, z, x, y, friction) - drag(w, c, at_w, x, y, nu) + fluid.force[2];
    const real B_u = lift * (T[c - X] + warmth) * buoyancy.gravity[0];
    const real B_v = lift * (T[c - Y] + warmth) * buoyancy.gravity[1];
    const real B_w = lift * (T[c - Z] + warmth) * buoyancy.gravity[2];
    const Next next_u = predicted(u, h_u, c, (c.i == grid.first[0]) | (at_u == CLOSED), H_u + B_u, scheme);
    const Next next_v = predicted(v, h_v, c, (c.j == grid.first[1]) | (at_v == CLOSED), H_v + B_v, scheme);
    const Next next_w = predicted(w, h_w, c, (c.k == grid.first[2]) | (at_w == CLOSED), H_w + B_w, scheme);
    store(c, next_u, next_v, next_w, h_u, h_v, h_w, u_new, v_new, w_new);
  }, In(h_u), In(h_v), In(h_w), u + Z, v + Z, w + Z, T + Z);
}
