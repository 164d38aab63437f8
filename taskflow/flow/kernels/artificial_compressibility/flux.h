// The flux of mass and momentum through a face, by flux difference splitting or by central differences.
#include "geometry.h"
#include "moving.h"
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

// Four cells in a row; the face is between b and c.
struct Row {
  real a, b, c, d;
};
FN Row row(In q, Index at, Index A) { return {q[at - 2 * A], q[at - A], q[at], q[at + A]}; }

FN Sides reconstructed(const Row& q) {
#if defined(CENTRAL) || defined(FIRST)
  return {q.b, q.c};
#elif defined(LIMITED)
  return limited(q.a, q.b, q.c, q.d);
#elif defined(SECOND)
  return {q.b + real(0.5) * (q.b - q.a), q.c - real(0.5) * (q.d - q.c)};
#else
  const real third = real(1.0 / 3), here = third * (q.c - q.b);
  return {q.b + (real(0.5) * third * (q.b - q.a) + here), q.c - (real(0.5) * third * (q.d - q.c) + here)};
#endif
}

FN real third_difference(const Row& q) { return (q.d - q.a) - 3 * (q.c - q.b); }
FN real mean(const Row& q) { return real(0.5) * (q.b + q.c); }

struct Rows {
  Row p, u, v, w;
};
FN Rows rows(const Fields& q, Index at, Index A) { return {row(q.p, at, A), row(q.u, at, A), row(q.v, at, A), row(q.w, at, A)}; }

// The states on both sides of a face
struct States {
  State low, high;
};

// On a side those beyond and inside where it is far away, else the mean of both: but for the pressure where nothing passes or the
// velocity is given, which comes from the two cells inside
FN States on_side(const Rows& q, const Lying& side) {
  if (side.kind == FAR) return {{q.p.b, {q.u.b, q.v.b, q.w.b}}, {q.p.c, {q.u.c, q.v.c, q.w.c}}};
  const real wall = side.above ? real(1.5) * q.p.b - real(0.5) * q.p.a : real(1.5) * q.p.c - real(0.5) * q.p.d;
  const State both{side.kind == OPEN ? mean(q.p) : wall, {mean(q.u), mean(q.v), mean(q.w)}};
  return {both, both};
}
FN States on_face(const Rows& q, const Lying& side) {
  const Sides p = reconstructed(q.p), u = reconstructed(q.u), v = reconstructed(q.v), w = reconstructed(q.w);
  States on{{p.low, {u.low, v.low, w.low}}, {p.high, {u.high, v.high, w.high}}};
  if (side.kind != INTERIOR) on = on_side(q, side);
  return on;
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

// The same of a face that moves: with U = theta - swept and m = (theta + U) / 2 the speeds are |U| and m +- root(m^2 + b)
template <class Area>
FN State splitting(State low, State high, real theta, real jump, Area s, real b, None) { return splitting(low, high, theta, jump, s, b); }
template <class Area>
FN State splitting(State low, State high, real theta, real jump, Area s, real b, real swept) {
  const State d = high - low;
  const Vector u = real(0.5) * (low.u + high.u);
  const real s2 = square(s), speed = magnitude(theta - swept), m = middle_of(theta, swept), sound = root(m * m + b * s2);
  const real half = real(0.5) * reciprocal(sound * s2), lag = real(0.5) * swept;
  const real up = (sound + m - speed) * (s2 * d.p + (m + sound) * jump) * half;
  const real down = -((sound - m - speed) * (s2 * d.p + (m - sound) * jump) * half);
  const real ahead = up * (sound - m), back = down * (sound + m), first = reciprocal(sound + lag), second = reciprocal(sound - lag);
  return {speed * d.p + (ahead - back),
          plus(plus(speed * d.u, s2 * (up * first - down * second), u), ahead * first + back * second, s)};
}

// b on a face, and one over it
struct Compressibility {
  real here, inverse;
};

// The flux through the low face of a cell
template <class F, class Geometry, class Numbers, class Swept>
FN Flux through(const Rows& q, const Geometry& g, const F& f, const Lying& side, Compressibility b, const Numbers& n, Swept swept) {
  const auto s = g.template face<F::axis>(f);
  const States on = on_face(q, side);
  const bool closed = side.kind == CLOSED;
  const real from = closed ? with_wall(swept) : dot(s, on.low.u), to = closed ? with_wall(swept) : dot(s, on.high.u);
  const real half = real(0.5), theta = half * (from + to);
  Vector momentum = plus(plus((half * relative(from, swept)) * on.low.u, half * relative(to, swept), on.high.u), half * (on.low.p + on.high.p), s);
  if (side.kind == OPEN) {  // What enters brings no normal momentum.
    const real through_it = relative(theta, swept), entering = least_zero(side.above ? -through_it : through_it);
    momentum = plus(momentum, -(entering * entering) * reciprocal(square(s)), s);
  }
  Flux flux{{theta, momentum}, {0, {0, 0, 0}}};
#ifdef CENTRAL
  const real m = middle_of(theta, swept), waves = magnitude(m) + root(m * m + b.here * square(s)), fourth = side.kind == INTERIOR ? n.fourth * waves : real(0);
  flux.added.p = fourth * b.inverse * third_difference(q.p);
#ifndef PRESSURE_DAMPING
  flux.added.u = fourth * Vector{third_difference(q.u), third_difference(q.v), third_difference(q.w)};
#endif
#else
  const State d = splitting(on.low, on.high, theta, to - from, s, b.here, swept);
  flux.added = {-half * b.inverse * d.p, -half * d.u};
#endif
  return flux;
}
