// How a velocity carries another one: speed dq/dx by WENO5, from the side that the flow comes from.
#include "../component.h"
#include "../limiter.h"
#include "weno.h"

// The first and the last place along an axis that have a known neighbour on either side; without boundaries out of reach.
struct Known {
  int first, last;
};

FN Known known(const Grid& g, int number, bool on_faces) {
  return {g.first[number] + on_faces, g.last[number] < 0 ? 1 << 30 : g.last[number]};
}

// speed dq/dx along the axis of v; differences beyond known values repeat the nearest one.
FN real carried(real speed, In q, const Cell& c, const Component& v, const Known& k) {
  const Axis axis = v.axis;
  const Index A = axis.step, at = c;
  const int n = index(c, v.number);
  const bool forward = speed > 0;
  const real q3 = q[at - 3 * A], q2 = q[at - 2 * A], q1 = q[at - A], here = q[at];
  const real p1 = q[at + A], p2 = q[at + 2 * A], p3 = q[at + 3 * A];
  const bool one = either(forward, n <= k.first, n >= k.last), two = either(forward, n < k.first + 2, n > k.last - 2);
  const bool down = either(forward, n >= k.last, n <= k.first);
  const real v2 = forward ? here - q1 : p1 - here, v3 = forward ? p1 - here : here - q1;
  const real v1 = one ? v2 : forward ? q1 - q2 : p2 - p1, v4 = down ? v3 : forward ? p2 - p1 : q1 - q2;
  const real v0 = two ? v1 : forward ? q2 - q3 : p3 - p2;
  return speed * (axis.per_cell() * weno(v0, v1, v2, v3, v4));
}

// The velocity of b on a face across a: the mean of the four faces around
FN real on_face(Index c, const Component& a, const Component& b) {
  const Index A = a.axis.step, on = c + b.axis.step;
  return real(0.25) * ((b.q[c - A] + b.q[c]) + (b.q[on - A] + b.q[on]));
}

// (u . grad) u of a component a, on its own faces; b and d are the others.
struct Weno {
  Known own, along_r, along_s;
  INLINE Weno(const Grid& g, int axis, int r, int s)
      : own(known(g, axis, true)), along_r(known(g, r, false)), along_s(known(g, s, false)) {}
};
FN real convection(const Weno& w, const Cell& c, const Component& a, const Component& b, const Component& d) {
  return carried(a.q[c], a.q, c, a, w.own) + carried(on_face(c, a, b), a.q, c, b, w.along_r) +
         carried(on_face(c, a, d), a.q, c, d, w.along_s);
}
