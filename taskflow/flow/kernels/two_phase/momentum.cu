// Momentum of two phases on the MAC grid, carried by the mass fluxes that carry the interface, seen from a face. In functions of
// a, b and d one of them is the axis of the component, and b and d are the others.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 2
#define PLANES 1
#include "cell.h"
#include "../component.h"
#include "../flags.h"
#include "carried.h"
#include "phases.h"

// u + ratio/2 (u - u_old): the velocity in the middle of the step
struct Middle {
  real half;
  INLINE real at(In q, In q_old, Index c) const { return ahead(q, q_old, c, half); }
  INLINE Row3 row(In q, In q_old, Index at_face, Index step, bool forward) const {
    const real low = at(q, q_old, at_face - step), high = at(q, q_old, at_face);
    const real before = at(q, q_old, forward ? at_face - 2 * step : at_face + step);
    return {before, forward ? low : high, forward ? high : low, forward};
  }
};

// One component now and before, and the mass flux along its axis
struct Carried {
  Component now;
  In old, mass;
  int first, last;  // the cells beside boundaries
};

// Mass that leaves the volume around a face per volume and time, and the momentum that it carries out
struct Leaving {
  real mass, momentum;
};

// Through the sides in the cells before (n = 0) and behind (1) the face
FN Leaving along(const Middle& middle, const Cell& c, const Carried& a, int n) {
  const Index A = a.now.axis.step, at = c + n * A;
  const real mass = real(0.5) * (a.mass[at - A] + a.mass[at]);
  const int cell = index(c, a.now.number) + n - 1;
  const Row3 r = middle.row(a.now.q, a.old, at, A, mass > 0);
  const bool reaches = cell != (r.forward ? a.first : a.last);
  const real line = real(0.5) * (r.up + r.down), bent = r.up + real(0.5) * limited(r.up - r.before, r.down - r.up, false);
  return {mass, mass * (reaches ? bent : line)};
}

// Through the edges across the axis of b
FN Leaving across(const Middle& middle, const Cell& c, const Carried& a, const Carried& b, int n) {
  const Index A = a.now.axis.step, B = b.now.axis.step, at = c + n * B;
  const real mass = real(0.5) * (b.mass[at - A] + b.mass[at]);
  const Row3 r = middle.row(a.now.q, a.old, at, B, mass > 0);
  return {mass, mass * carried_on_face(r, index(c, b.now.number) + n, b.first, b.last)};
}

FN Leaving operator+(Leaving a, Leaving b) { return {a.mass + b.mass, a.momentum + b.momentum}; }
FN Leaving net(real inverse, Leaving low, Leaving high) {
  return {inverse * (high.mass - low.mass), inverse * (high.momentum - low.momentum)};
}
FN Leaving outflow(const Middle& middle, const Cell& c, const Carried& a, const Carried& b, const Carried& d) {
  return net(a.now.axis.per_face(), along(middle, c, a, 0), along(middle, c, a, 1)) +
         net(b.now.axis.per_cell(), across(middle, c, a, b, 0), across(middle, c, a, b, 1)) +
         net(d.now.axis.per_cell(), across(middle, c, a, d, 0), across(middle, c, a, d, 1));
}

// div(mu (grad u + grad u^T)), with mu of the share f in cells, and of the mean of four cells on edges
struct Friction {
  Phases phases;
  In f;

  INLINE real along(Index c, const Component& a, int n) const {
    const Index A = a.axis.step, at = c + n * A;
    return viscosity(phases, f[at - A]) * (a.axis.per_cell(n - 1) * (a.q[at] - a.q[at - A]));
  }
  INLINE real across(Index c, const Component& a, const Component& b, int n) const {
    const Index A = a.axis.step, B = b.axis.step, at = c + n * B;
    const real mean = real(0.25) * ((f[at] + f[at - (A + B)]) + (f[at - A] + f[at - B]));
    const real sheared = b.axis.per_face(n) * (a.q[at] - a.q[at - B]) + a.axis.per_face() * (b.q[at] - b.q[at - A]);
    return viscosity(phases, mean) * sheared;
  }
  INLINE real at(Index c, const Component& a, const Component& b, const Component& d) const {
    return 2 * a.axis.per_face() * (along(c, a, 1) - along(c, a, 0)) + b.axis.per_cell() * (across(c, a, b, 1) - across(c, a, b, 0)) +
           d.axis.per_cell() * (across(c, a, d, 1) - across(c, a, d, 0));
  }
};

// sigma kappa df/dx: kappa on a face is the mean of both cells if both have one, else that of the one that has
FN real tension(const Phases&, In, None, Index, const Component&) { return 0; }
FN real tension(const Phases& phases, In f_new, In kappa, Index c, const Component& a) {
  const Index A = a.axis.step;
  const real low = kappa[c - A], high = kappa[c], sum = low + high;
  const real mean = (low != 0) & (high != 0) ? real(0.5) * sum : sum;
  return phases.surface_tension * mean * (a.axis.per_face() * (f_new[c] - f_new[c - A]));
}

FN bool is_closed(None, int) { return false; }
FN bool is_closed(int flags, int axis) { return (flags & CLOSED << axis) != 0; }

struct Next {
  real friction, velocity;
};

TASK momentum_of_phases(Range range, In u, In v, In w, In u_old, In v_old, In w_old, In m_x, In m_y, In m_z, In f, In f_new
                        OPTIONAL(kappa) OPTIONAL(faces), InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                        In64 dt, In64 ratio, Grid grid, Phases phases) {
  STRIDES(range)
  const real step = real(*dt), half = real(0.5 * *ratio);
  const Middle middle{half};
  const Friction friction{phases, f};
  for_cells(range, CELL(c) {
    const Carried U{{u, 0, axis(grid, 0, c.i, X)}, u_old, m_x, grid.first[0], grid.last[0]};
    const Carried V{{v, 1, axis(grid, 1, c.j, Y)}, v_old, m_y, grid.first[1], grid.last[1]};
    const Carried W{{w, 2, axis(grid, 2, c.k, Z)}, w_old, m_z, grid.first[2], grid.last[2]};
    const auto flags = flags_of(faces, c);
    const auto next = [&](const Carried& a, const Carried& b, const Carried& d, real before) __attribute__((always_inline)) {
      const Index A = a.now.axis.step;
      const int number = a.now.number;
      const real here = a.now.q[c], rho = real(0.5) * (density(phases, f[c - A]) + density(phases, f[c]));
      const real rho_new = real(0.5) * (density(phases, f_new[c - A]) + density(phases, f_new[c]));
      const Leaving out = outflow(middle, c, a, b, d);
      const real stress = friction.at(c, a.now, b.now, d.now), earlier = taken(half != 0, before);
      const real velocity = (rho * here - step * out.momentum) / (rho - step * out.mass)              // carried
                            + step * ((1 + half) * stress - half * earlier) / rho_new                 // friction
                            + step * tension(phases, f_new, kappa, c, a.now) / rho_new                // surface tension
                            + step * phases.gravity[number];                                          // weight
      const bool kept = (index(c, number) == a.first) | is_closed(flags, number);
      return Next{kept ? real(0) : stress, kept ? here : velocity};
    };
    const Next x = next(U, V, W, h_u[c]), y = next(V, U, W, h_v[c]), z = next(W, U, V, h_w[c]);
    loaded();  // before the first store
    h_u[c] = x.friction, h_v[c] = y.friction, h_w[c] = z.friction;
    u_new[c] = x.velocity, v_new[c] = y.velocity, w_new[c] = z.velocity;
  });
}
