// The flux of mass and momentum through a face, by flux difference splitting or by central differences.
#include "geometry.h"
#include "moving.h"
#include "sides.h"

struct State {
  real p;
  Vector u;
};
template <class Q>
struct FieldsOf {
  Q p, u, v, w;
  template <class At>
  INLINE State operator[](const At& at) const { return {p[at], {u[at], v[at], w[at]}}; }
  template <class At>
  INLINE Vector velocity(const At& at) const { return {u[at], v[at], w[at]}; }
};
typedef FieldsOf<In> Fields;
template <class Q>
FN FieldsOf<Q> fields(Q p, Q u, Q v, Q w) { return {p, u, v, w}; }

FN State operator+(State a, State b) { return {a.p + b.p, a.u + b.u}; }
FN State operator*(real f, State a) { return {f * a.p, f * a.u}; }

// The values on both sides of a face
struct Sides {
  real low, high;
};
// The same as a scheme takes them: central differences as they are, the flux difference splitting as their mean and how much they differ
struct Pair {
  real one, other;
};
#ifdef CENTRAL
FN Pair pair(real low, real high) { return {low, high}; }
FN Pair alike(real both) { return {both, both}; }
#else
FN Pair pair(real low, real high) { return {real(0.5) * (low + high), high - low}; }
FN Pair alike(real both) { return {both, 0}; }
#endif

FN real least_zero(real a) { return a > 0 ? a : real(0); }

// Van Albada's limiter of two differences (G. D. van Albada, B. van Leer, W. W. Roberts 1982, Astron. Astrophys. 108, 76): 0 at extrema.
// Squares below `least` are rounding: what is uniform is smooth.
FN real smooth(real behind, real ahead, real tiny) {
  return least_zero(quotient(fused(2 * behind, ahead, tiny), fused(behind, behind, fused(ahead, ahead, tiny))));
}

// In single precision squares of small speeds would be lost: differences are multiplied by `per`, about one over their size.
struct Smallest {
  ::real least, per;
};
FN real smoothness(real behind, real ahead, Smallest q) {
  if constexpr (sizeof(::real) == 4) return smooth(q.per * behind, q.per * ahead, ::real(1e-30));
  else return smooth(behind, ahead, q.least);
}

// From a to d in a row, the face between b and c: kappa = 1/3, limited
FN Sides limited(real a, real b, real c, real d, Smallest least) {
  const real third = real(1.0 / 3), before = b - a, here = c - b, behind = d - c;
  const real s = smoothness(before, here, least), t = smoothness(here, behind, least);
  return {fused(real(0.25) * s, fused(fused(-third, s, real(1)), before, fused(third, s, real(1)) * here), b),
          fused(real(-0.25) * t, fused(fused(-third, t, real(1)), behind, fused(third, t, real(1)) * here), c)};
}

// Four cells in a row; the face is between b and c.
struct Row {
  real a, b, c, d;
};
template <class Q, class At, class Step>
FN Row row(Q q, const At& at, Step A) { return {q[at - 2 * A], q[at - A], q[at], q[at + A]}; }

FN real mean(const Row& q) { return real(0.5) * (q.b + q.c); }
FN real third_difference(const Row& q) { return fused(real(-3), q.c - q.b, q.d - q.a); }

FN Pair reconstructed(const Row& q, Smallest least) {
#if defined(CENTRAL) || defined(FIRST)
  return pair(q.b, q.c);
#elif defined(LIMITED)
  const Sides on = limited(q.a, q.b, q.c, q.d, least);
  return pair(on.low, on.high);
#else  // from lines (kappa = -1), or parabolas (kappa = 1/3): what is uniform stays so, to the bit
  const real inner = q.b + q.c, outer = q.a + q.d, here = q.c - q.b, around = q.d - q.a;
#ifdef SECOND
  return {fused(real(0.25), inner - outer, real(0.5) * inner), fused(real(-0.5), around, real(1.5) * here)};
#else
  return {fused(real(1.0 / 12), inner - outer, real(0.5) * inner), fused(real(-1.0 / 6), around, real(0.5) * here)};
#endif
#endif
}

struct Rows {
  Row p, u, v, w;
};
template <class Q, class At, class Step>
FN Rows rows(const FieldsOf<Q>& q, const At& at, Step A) { return {row(q.p, at, A), row(q.u, at, A), row(q.v, at, A), row(q.w, at, A)}; }

// Behind faces that are closed by a body values continue along a line, next to a side as they are.
FN Row continued(Row q, bool low, bool high, bool straight) {
  if (low) q.a = straight ? 2 * q.b - q.c : q.b;
  if (high) q.d = straight ? 2 * q.c - q.b : q.c;
  return q;
}
template <class F>
FN Rows continued(const Rows& q, None, const F&, const Lying&) { return q; }
template <class F>
FN Rows continued(const Rows& q, InValues<3> aperture, const F& f, const Lying& side) {
  constexpr int D = F::axis, x = D == 0, y = D == 1, z = D == 2;
  const bool low = aperture(f, D, -x, -y, -z) == 0, high = aperture(f, D, x, y, z) == 0, straight = side.kind == INTERIOR;
  return {continued(q.p, low, high, straight), continued(q.u, low, high, straight), continued(q.v, low, high, straight),
          continued(q.w, low, high, straight)};
}

// The states on a face: a pair of each number
struct States {
  State one, other;
};
FN States states(Pair p, Pair u, Pair v, Pair w) { return {{p.one, {u.one, v.one, w.one}}, {p.other, {u.other, v.other, w.other}}}; }

// On a side those beyond and inside where it is far away, else the mean of both: but for the pressure where nothing passes or the
// velocity is given, which comes from the two cells inside
FN States on_side(const Rows& q, const Lying& side) {
  if (side.kind == FAR) return states(pair(q.p.b, q.p.c), pair(q.u.b, q.u.c), pair(q.v.b, q.v.c), pair(q.w.b, q.w.c));
  const real wall = side.above ? fused(real(-0.5), q.p.a, real(1.5) * q.p.b) : fused(real(-0.5), q.p.d, real(1.5) * q.p.c);
  return states(alike(side.kind == OPEN ? mean(q.p) : wall), alike(mean(q.u)), alike(mean(q.v)), alike(mean(q.w)));
}
template <class Numbers>
FN States on_face(const Rows& q, const Lying& side, const Numbers& n) {
  const Smallest p{n.least[0], n.per[0]}, u{n.least[1], n.per[1]};
  States on = states(reconstructed(q.p, p), reconstructed(q.u, u), reconstructed(q.v, u), reconstructed(q.w, u));
  if (side.kind != INTERIOR) on = on_side(q, side);
  return on;
}

// What passes a face: mass, and multiples of both velocities and of its area, which make momentum; `rough` are those of third
// differences of the velocities, where these are damped, too
struct Parts {
  real mass, one, other, area, rough;
};
#ifdef CENTRAL
constexpr ::real WEIGHT = 1;  // of what the scheme adds for its stability
#else
constexpr ::real WEIGHT = -0.5;
#endif
#if defined(CENTRAL) && !defined(PRESSURE_DAMPING)
constexpr bool ROUGH = true;
#else
constexpr bool ROUGH = false;
#endif

template <class Area>
struct Flux {
  Parts carries, adds;
  States on;
  Vector rough;
  Area s;
  INLINE State sum(const Parts& f) const {
    const Vector u = plus(plus(f.one * on.one.u, f.other, on.other.u), f.area, s);
    if constexpr (ROUGH) return {f.mass, plus(u, f.rough, rough)};
    return {f.mass, u};
  }
  INLINE State carried() const { return sum(carries); }
#ifdef PRESSURE_DAMPING
  INLINE State added() const { return {adds.mass, {0, 0, 0}}; }
  INLINE State all() const { return sum({mass(), carries.one, carries.other, carries.area, 0}); }
#else
  INLINE State added() const { return real(WEIGHT) * sum(adds); }
  INLINE State all() const {
    const real f = WEIGHT;
    return sum({mass(), fused(f, adds.one, carries.one), fused(f, adds.other, carries.other), fused(f, adds.area, carries.area), adds.rough});
  }
#endif
  INLINE real mass() const { return fused(real(WEIGHT), adds.mass, carries.mass); }
};

// |A| d, mass being over b, in closed form of the flux difference splitting, with sound speeds theta +- root(theta^2 + b) (times the
// area): theta and jump are what of the mean velocity and of the difference passes, `rise` is that of the pressure.
FN Parts splitting(real rise, real theta, real jump, real s2, real b, None) {
  const real sound = root_above(fused(theta, theta, b * s2)), both = reciprocal(sound * s2), inverse = both * s2, speed = magnitude(theta);
  const real push = fused(s2, rise, theta * jump) * inverse, share = theta * inverse;
  return {push, fused(theta * jump, inverse, fused(-magnitude(share), push, push)), speed,
          fused(b * inverse, jump, -(speed * (both * sound)) * fused(-share, push, jump)), 0};
}
// The same of a face that moves: with U = theta - swept and m = (theta + U) / 2 the speeds are |U| and m +- root(m^2 + b)
FN Parts splitting(real rise, real theta, real jump, real s2, real b, real swept) {
  const real speed = magnitude(theta - swept), m = middle_of(theta, swept), sound = root_above(fused(m, m, b * s2)), lag = real(0.5) * swept;
  const real both = reciprocal(sound * s2), inner = reciprocal((sound + lag) * (sound - lag)), slower = sound - speed;
  const real push = fused(s2, rise, m * jump), turn = sound * jump;
  const real odd = fused(slower, push, m * turn) * both, even = fused(slower, turn, m * push) * both;
  return {push * (both * s2), s2 * inner * fused(sound, odd, -(lag * even)), speed,
          inner * fused(fused(m, lag, sound * sound), even, -(sound * theta * odd)), 0};
}

// b on a face, and one over it
struct Compressibility {
  real here, inverse;
};

// The flux through the low face of a cell
template <class F, class Geometry, class Numbers, class Swept>
FN auto through(const Rows& q, const Geometry& g, const F& f, const Lying& side, Compressibility b, const Numbers& n, Swept swept) {
  const auto s = g.template face<F::axis>(f);
  const States on = on_face(q, side, n);
  const bool closed = side.kind == CLOSED;
  const real half = real(0.5), one = dot(s, on.one.u), other = dot(s, on.other.u);
#ifdef CENTRAL
  const real from = closed ? with_wall(swept) : one, to = closed ? with_wall(swept) : other, theta = half * (from + to);
  Parts carries{theta, half * relative(from, swept), half * relative(to, swept), half * (on.one.p + on.other.p), 0};
  const real m = middle_of(theta, swept), waves = magnitude(m) + root_above(fused(m, m, b.here * square(s)));
  const real fourth = side.kind == INTERIOR ? n.fourth * waves : real(0);
  const Parts adds{fourth * b.inverse * third_difference(q.p), 0, 0, 0, fourth};
  const Vector rough{third_difference(q.u), third_difference(q.v), third_difference(q.w)};
#else
  const real theta = closed ? with_wall(swept) : one, jump = closed ? real(0) : other;
  Parts carries{theta, relative(theta, swept), real(0.25) * jump, on.one.p, 0};
  const Parts adds = splitting(on.other.p, theta, jump, square(s), b.here, swept);
  const Vector rough{};
#endif
  if (side.kind == OPEN) {  // What enters brings no normal momentum.
    const real through_it = relative(theta, swept), entering = least_zero(side.above ? -through_it : through_it);
    carries.area = fused(-entering * entering, reciprocal(square(s)), carries.area);
  }
  return Flux<decltype(s)>{carries, adds, on, rough, s};
}
