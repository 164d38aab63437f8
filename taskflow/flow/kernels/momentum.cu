// Momentum of a Boussinesq fluid on the MAC grid, seen from a face: second order in space, Adams-Bashforth in time. u[i] lives
// on the low x-face of cell i, v[j] on the low y-face, w[k] on the low z-face. In functions of a, b and d one of them is a,
// and b and d are the others.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 1
#define PLANES 1
#include "cell.h"
#include "adams_bashforth.h"
#include "friction.h"
#include "convection.h"
#include "flags.h"
#include "lift.h"

// Terms that a launch leaves out
FN real operator+(real H, None) { return H; }
FN real operator-(real H, None) { return H; }

// Excess of the Laplacian of a face at solid neighbours along one direction, which store 0: they represent a wall half a cell
// away
FN real excess_at_walls(int walls, Axis b) {
  return (walls & 1 ? b.divergence_at_wall(0) : real(0)) + (walls & 2 ? b.divergence_at_wall(1) : real(0));
}
FN None wall_friction(None, real, Index, const Component&, const Component&, const Component&) { return {}; }
FN real wall_friction(int flags, real viscosity, Index c, const Component& a, const Component& b, const Component& d) {
  const int walls = flags >> (4 * a.number);
  return viscosity * ((excess_at_walls(walls, b.axis) + excess_at_walls(walls >> 2, d.axis)) * a.q[c]);
}

// One component in one cell at the end of the step: the new H_old, and the velocity. Faces on walls and closed faces keep their
// velocity; closed faces also keep H_old, which bodies/closed_faces.cu sets.
struct Next {
  real tendency, velocity;
};
FN Next predicted(In q, const real* H_old, Index c, bool on_wall, bool shut, real H, AdamsBashforth scheme) {
  const real here = q[c], old = H_old[c], next = scheme.advance(here, H, old);
  return {on_wall ? real(0) : shut ? old : H, on_wall | shut ? here : next};
}

TASK momentum(Range range, In u, In v, In w OPTIONAL(nu_t) OPTIONAL(T) OPTIONAL(faces) OPTIONAL(edges), InOut h_u, InOut h_v,
              InOut h_w, Out u_new, Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid OPTIONAL(buoyancy)) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  const Convection convection(grid);
  const auto friction = stress(fluid.viscosity, nu_t, edges);
  visit(range, convection, grid, CELL(c) {
    const Component U{u, 0, axis(grid, 0, c.i, X)}, V{v, 1, axis(grid, 1, c.j, Y)}, W{w, 2, axis(grid, 2, c.k, Z)};
    const auto flags = flags_of(faces, c);
    const auto tendency = [&](const Component& a, const Component& b, const Component& d) __attribute__((always_inline)) {
      return -advection(convection, c, a, b, d)                   // -div(u u)
             + friction.at(c, a, b, d)                            // +div(nu (grad u + grad u^T))
             - wall_friction(flags, fluid.viscosity, c, a, b, d)  // -friction on bodies
             + fluid.force[a.number]                              // +f
             + lift(buoyancy, T, c, a);                           // -expansion (T - reference) gravity
    };
    const real H_u = tendency(U, V, W), H_v = tendency(V, U, W), H_w = tendency(W, U, V);
    const Next u_next = predicted(u, h_u, c, !c.amid && c.i == grid.first[0], is_closed(flags, 0), H_u, scheme);
    const Next v_next = predicted(v, h_v, c, c.j == grid.first[1], is_closed(flags, 1), H_v, scheme);
    const Next w_next = predicted(w, h_w, c, c.k == grid.first[2], is_closed(flags, 2), H_w, scheme);
    loaded();  // before the first store
    h_u[c] = u_next.tendency, h_v[c] = v_next.tendency, h_w[c] = w_next.tendency;
    u_new[c] = u_next.velocity, v_new[c] = v_next.velocity, w_new[c] = w_next.velocity;
  }, In(h_u), In(h_v), In(h_w), u + Z, v + Z, w + Z, nu_t + Z, T + Z);
}
