// Momentum that mass carries out of the volume around a face. In functions of a, b and d one of them is the axis of the
// component, and b and d are the others.
#include "../component.h"
#include "carried.h"
#include "neighbours.h"

// u + ratio/2 (u - u_old): the velocity in the middle of the step
struct Middle {
  real half;
  INLINE real at(In q, In q_old, Index c) const { return ahead(q, q_old, c, half); }
  INLINE Row3 row(In q, In q_old, Index at_face, Index step, bool forward) const {
    const real low = at(q, q_old, at_face - step), high = at(q, q_old, at_face);
    const real lower = at(q, q_old, at_face - 2 * step), higher = at(q, q_old, at_face + step);
    return {forward ? lower : higher, forward ? low : high, forward ? high : low};
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
template <class C>
FN Leaving along(const Middle& middle, const C& c, const Carried& a, int n) {
  const Index A = a.now.axis.step, at = c + n * A;
  const real mass = real(0.5) * (a.mass[at - A] + a.mass[at]);
  const int cell = index(c, a.now.number) + n - 1;
  const bool forward = mass > 0;
  const Row3 r = middle.row(a.now.q, a.old, at, A, forward);
  if (is_far(c, a.now.number)) return {mass, mass * bent(r, false)};
  const bool ends = either(forward, cell == a.first, cell == a.last);
  const real line = real(0.5) * (r.up + r.down), value = bent(r, false);
  return {mass, mass * (ends ? line : value)};
}

// Through the edges across the axis of b
template <class C>
FN Leaving across(const Middle& middle, const C& c, const Carried& a, const Carried& b, int n) {
  const Index A = a.now.axis.step, B = b.now.axis.step, at = c + n * B;
  const real mass = real(0.5) * (b.mass[at - A] + b.mass[at]);
  const bool forward = mass > 0;
  const Row3 r = middle.row(a.now.q, a.old, at, B, forward);
  if (is_far(c, b.now.number)) return {mass, mass * bent(r, false)};
  return {mass, mass * carried_on_face(r, forward, index(c, b.now.number) + n, b.first, b.last)};
}

FN Leaving operator+(Leaving a, Leaving b) { return {a.mass + b.mass, a.momentum + b.momentum}; }
FN Leaving net(real inverse, Leaving low, Leaving high) {
  return {inverse * (high.mass - low.mass), inverse * (high.momentum - low.momentum)};
}
template <class C>
FN Leaving outflow(const Middle& middle, const C& c, const Carried& a, const Carried& b, const Carried& d) {
  return net(a.now.axis.per_face(), along(middle, c, a, 0), along(middle, c, a, 1)) +
         net(b.now.axis.per_cell(), across(middle, c, a, b, 0), across(middle, c, a, b, 1)) +
         net(d.now.axis.per_cell(), across(middle, c, a, d, 0), across(middle, c, a, d, 1));
}
