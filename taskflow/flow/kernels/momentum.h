// Momentum on the MAC grid, seen from a face. u[i] lives on the low x-face of cell i, v[j] on the low y-face, w[k] on the low
// z-face. In what holds for each of them alike, u is one and v and w are the others.
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
  INLINE real slowed(real H, Index, const Component&, const Component&, const Component&) const { return H; }
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
    const Component u{m.u, 0, axis(grid, 0, c.i, X)}, v{m.v, 1, axis(grid, 1, c.j, Y)}, w{m.w, 2, axis(grid, 2, c.k, Z)};
    const auto body = terms.bodies.at(c);
    // of a, b and d being the others
    const auto tendency = [&](const Component& a, const Component& b, const Component& d) __attribute__((always_inline)) {
      const real inner = terms.friction.at(c, a, b, d) - real(0.25) * outflow(terms.convection, c, a, b, d);
      return terms.force.added(body.slowed(inner, c, a, b, d), a.number, c, a.axis.step);
    };
    const real H_u = tendency(u, v, w), H_v = tendency(v, u, w), H_w = tendency(w, u, v);
    const Next u_next = predicted(m.u, m.h_u, c, (c.i == grid.first[0]) | body.closed(0), H_u, scheme);
    const Next v_next = predicted(m.v, m.h_v, c, (c.j == grid.first[1]) | body.closed(1), H_v, scheme);
    const Next w_next = predicted(m.w, m.h_w, c, (c.k == grid.first[2]) | body.closed(2), H_w, scheme);
    loaded();  // before the first store
    m.h_u[c] = u_next.tendency, m.h_v[c] = v_next.tendency, m.h_w[c] = w_next.tendency;
    m.u_new[c] = u_next.velocity, m.v_new[c] = v_next.velocity, m.w_new[c] = w_next.velocity;
  }, In(m.h_u), In(m.h_v), In(m.h_w), m.u + Z, m.v + Z, m.w + Z, more + Z...);
}
