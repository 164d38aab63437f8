// Momentum on the MAC grid, seen from a face. u[i] lives on the low x-face of cell i, v[j] on the low y-face, w[k] on the low
// z-face.
#include "adams_bashforth.h"
#include "friction.h"
#include "convection.h"

// A force per mass that is the same everywhere.
struct Uniform {
  Fluid fluid;
  INLINE real added(real H, int axis, Index, Index) const { return H + fluid.force[axis]; }
};

// And -expansion (T - reference) gravity, T being the mean of the cells on both sides of the face.
struct Buoyant {
  Fluid fluid;
  Buoyancy buoyancy;
  In T;

  INLINE real added(real H, int axis, Index c, Index step) const {
    const real warmth = T[c] - 2 * buoyancy.reference, lift = real(-0.5) * buoyancy.expansion;
    return H + fluid.force[axis] + lift * (T[c - step] + warmth) * buoyancy.gravity[axis];
  }
};

// Bodies, of which there are none.
struct NoBodies {
  INLINE NoBodies at(Index) const { return {}; }
  INLINE bool closed(int) const { return false; }
  INLINE real slowed(real H, In, Index, int, Axis, Axis) const { return H; }
};

// The velocity, and the tendency of the stage before, which becomes that of this one.
struct Motion {
  In u, v, w;
  InOut h_u, h_v, h_w;
  Out u_new, v_new, w_new;
};

// What the momentum equation is made of.
template <class Convection, class Friction, class Force, class Bodies>
struct Terms {
  Convection convection;
  Friction friction;
  Force force;
  Bodies bodies;
};

// One component in one cell at the end of the step: what replaces H_old, and the velocity.
struct Next {
  real tendency, velocity;
};

// A face that lies on a wall, or is closed, keeps its velocity.
FN Next predicted(In q, const real* H_old, Index c, bool kept, real H, AdamsBashforth scheme) {
  const real here = q[c], next = scheme.advance(here, H, H_old[c]);
  return {kept ? real(0) : H, kept ? here : next};
}

// u* = u + dt ((1 + r/2) H - r/2 H_old), H = -div(u u) + friction + force; H replaces H_old. `more` are the fields that
// friction and force read.
template <class Terms, class... More>
FN void advance(const Range& range, Motion m, In64 dt, In64 ratio, const Grid& grid, Terms terms, More... more) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const auto body = terms.bodies.at(c);
    // of q along a, the component of that number; r and s are the velocities along b and d
    const auto tendency = [&](In q, In r, In s, int number, Axis a, Axis b, Axis d) __attribute__((always_inline)) {
      const real friction = terms.friction.on(number, c).at(q, r, s, c, a, b, d);
      const real inner = friction - real(0.25) * terms.convection.on(number, c).at(q, r, s, c, a, b, d);
      return terms.force.added(body.slowed(inner, q, c, number, b, d), number, c, a.step);
    };
    const real H_u = tendency(m.u, m.v, m.w, 0, x, y, z);
    const real H_v = tendency(m.v, m.u, m.w, 1, y, x, z);
    const real H_w = tendency(m.w, m.u, m.v, 2, z, x, y);
    const Next u = predicted(m.u, m.h_u, c, (c.i == grid.first[0]) | body.closed(0), H_u, scheme);
    const Next v = predicted(m.v, m.h_v, c, (c.j == grid.first[1]) | body.closed(1), H_v, scheme);
    const Next w = predicted(m.w, m.h_w, c, (c.k == grid.first[2]) | body.closed(2), H_w, scheme);
    loaded();  // before the first store
    m.h_u[c] = u.tendency, m.h_v[c] = v.tendency, m.h_w[c] = w.tendency;
    m.u_new[c] = u.velocity, m.v_new[c] = v.velocity, m.w_new[c] = w.velocity;
  }, In(m.h_u), In(m.h_v), In(m.h_w), m.u + Z, m.v + Z, m.w + Z, more + Z...);
}
