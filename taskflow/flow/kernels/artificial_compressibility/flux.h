// The flux of mass and momentum through a face, by flux difference splitting or by central differences.
#include "geometry.h"
#include "sides.h"

struct State {
  real p;
  Vector u;
};
struct Fields {
  In p, u, v, w;
  INLINE State operator[](Index at) const { return {p[at], {u[at], v[at], w[at]}}; }
  INLINE Vector velocity(Index at) const { return {u[at], v[at], w[at]}; }
};

FN State operator+(State a, State b) { return {a.p + b.p, a.u + b.u}; }
FN State operator-(State a, State b) { return {a.p - b.p, a.u - b.u}; }
FN State operator*(real f, State a) { return {f * a.p, f * a.u}; }

// The values on both sides of a face
struct Sides {
  real low, high;
};

FN real least_zero(real a) { return a > 0 ? a : real(0); }

// Van Albada's limiter of two differences (G. D. van Albada, B. van Leer, W. W. Roberts 1982, Astron. Astrophys. 108, 76): 0 at extrema
FN real smoothness(real behind, real ahead) {
  const real tiny = real(1e-30);
  return least_zero((2 * behind * ahead + tiny) / (behind * behind + ahead * ahead + tiny));
}

// From a to d in a row, the face between b and c: kappa = 1/3, limited
FN Sides limited(real a, real b, real c, real d) {
  const real third = real(1.0 / 3), before = b - a, here = c - b, behind = d - c;
  const real s = smoothness(before, here), t = smoothness(here, behind);
  return {b + real(0.25) * s * ((1 - third * s) * before + (1 + third * s) * here),
          c - real(0.25) * t * ((1 - third * t) * behind + (1 + third * t) * here)};
}

FN Sides reconstructed(In q, Index at, Index A) {
  const real b = q[at - A], c = q[at];
#if defined(CENTRAL) || defined(FIRST)
  return {b, c};
#else
  const real a = q[at - 2 * A], d = q[at + A];
#if defined(LIMITED)
  return limited(a, b, c, d);
#elif defined(SECOND)
  return {b + real(0.5) * (b - a), c - real(0.5) * (d - c)};
#else
  const real third = real(1.0 / 3), here = third * (c - b);
  return {b + (real(0.5) * third * (b - a) + here), c - (real(0.5) * third * (d - c) + here)};
#endif
#endif
}

FN real third_difference(In q, Index at, Index A) { return (q[at + A] - q[at - 2 * A]) - 3 * (q[at] - q[at - A]); }

// Of a component of the velocity on a face that may lie on a side
FN Sides on_face(In q, Index at, Index A, int kind) {
  const Sides inside = reconstructed(q, at, A);
  const real b = q[at - A], c = q[at], mean = real(0.5) * (b + c);
  const bool within = kind == INTERIOR, far = kind == FAR;
  return {selected(within, inside.low, selected(far, b, mean)), selected(within, inside.high, selected(far, c, mean))};
}

// The pressure there: extrapolated from the two cells inside of a side that lets nothing pass or gives the velocity
template <int M>
FN Sides pressure_on_face(In p, Index at, Index A, int kind) {
  const Sides inside = reconstructed(p, at, A);
  const real b = p[at - A], c = p[at], mean = real(0.5) * (b + c);
  const real wall = M ? real(1.5) * b - real(0.5) * p[at - 2 * A] : real(1.5) * c - real(0.5) * p[at + A];
  const bool within = kind == INTERIOR, far = kind == FAR;
  const real side = selected(kind == OPEN, mean, wall);
  return {selected(within, inside.low, selected(far, b, side)), selected(within, inside.high, selected(far, c, side))};
}

// What passes a face along its direction: mass, momentum, and what the scheme adds to both for its stability
struct Flux {
  State carried, added;
};

// |A| d, times the area: closed form of the flux difference splitting, with sound speeds theta +- root(theta^2 + b) (times the area)
template <class Area>
FN State splitting(State low, State high, real theta, real jump, Area s, real b) {
  const State d = high - low;
  const Vector u = real(0.5) * (low.u + high.u);
  const real s2 = square(s), speed = magnitude(theta), sound = root(theta * theta + b * s2), inverse = reciprocal(sound * s2);
  const real half = real(0.5) * inverse;
  const real up = (sound + theta - speed) * (s2 * d.p + (theta + sound) * jump) * half;
  const real down = -((sound - theta - speed) * (s2 * d.p + (theta - sound) * jump) * half);
  const real ahead = up * (sound - theta), back = down * (sound + theta), share = inverse * s2;
  return {speed * d.p + (ahead - back),
          plus(plus(speed * d.u, share * s2 * (up - down), u), share * (ahead + back), s)};
}

// The flux through the face on side M of a cell along D; b is the compressibility there.
template <int D, int M, class C, class Geometry, class Numbers>
FN Flux through(const Fields& q, const Geometry& g, InByte sides, const C& c, const Steps& steps, real b, const Numbers& n) {
  const Index A = steps.of<D>(), at = Index(c) + M * A;
  const int kind = side_of<M>(sides, c, A);
  const auto s = g.template face<D>(c, M);
  const Sides p = pressure_on_face<M>(q.p, at, A, kind), u = on_face(q.u, at, A, kind), v = on_face(q.v, at, A, kind),
              w = on_face(q.w, at, A, kind);
  const State low{p.low, {u.low, v.low, w.low}}, high{p.high, {u.high, v.high, w.high}};
  const bool passes = kind != CLOSED;
  const real from = taken(passes, dot(s, low.u)), to = taken(passes, dot(s, high.u)), theta = real(0.5) * (from + to);
  const real half = real(0.5);
  Vector momentum = plus(plus((half * from) * low.u, half * to, high.u), half * (low.p + high.p), s);
  // What enters through an open side brings no normal momentum.
  const real entering = least_zero(M ? -theta : theta);
  momentum = plus(momentum, taken(kind == OPEN, -(entering * entering) * reciprocal(square(s))), s);
  Flux flux{{theta, momentum}, {0, {0, 0, 0}}};
#ifdef CENTRAL
  const real fourth = taken(kind == INTERIOR, n.fourth) * (magnitude(theta) + root(theta * theta + b * square(s)));
  flux.added.p = fourth * reciprocal(b) * third_difference(q.p, at, A);
#ifndef PRESSURE_DAMPING
  flux.added.u = {fourth * third_difference(q.u, at, A), fourth * third_difference(q.v, at, A), fourth * third_difference(q.w, at, A)};
#endif
#else
  const State d = splitting(low, high, theta, to - from, s, b);
  flux.added = {-half * reciprocal(b) * d.p, -half * d.u};
#endif
  return flux;
}
