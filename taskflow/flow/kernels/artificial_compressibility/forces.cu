// What passes the faces of a side, from the very fluxes that a stage has there: force, moment, heat and mass.
#include "cell.h"
#include "balance.h"

struct Position {
  double x, y, z;
};
FN Position middle(None, None, None, const Cell&, Index, Index, Index, const Lever& about) { return {about.point[0], about.point[1], about.point[2]}; }
FN Position middle(In x, In y, In z, const Cell& c, Index at, Index R, Index S, const Lever&) {
  const auto mean = [=](In q) { return 0.25 * ((double(q[at]) + q[at + R + S]) + (double(q[at + R]) + q[at + S])); };
  return {mean(x), mean(y), mean(z)};
}

// (grad u)^T . S, which with grad u . S makes the whole stress: sums over directions a of S_a (change of u along a) . S / V.
// It is 0 on plane walls, and on walls at rest.
FN Vector transposed(const Fields&, const Uniform&, const Cell&, Index, const Steps&) { return {0, 0, 0}; }
FN Vector transposed(const Fields& q, const Stored& g, const Cell& c, Index at, const Steps& steps) {
  using S = Skewed<AXIS>;
  const Index A = steps.of<AXIS>();
  const Vector s = g.face<AXIS>(c, HIGH), normal{across(q.u, at, A), across(q.v, at, A), across(q.w, at, A)};
  const auto change = [&](Index E) { return Vector{along(q.u, at, A, E), along(q.v, at, A, E), along(q.w, at, A, E)}; };
  Vector sum = plus(dot(normal, s) * s, dot(change(steps.of<S::E>()), s), g.beside<AXIS, S::E>(c, HIGH));
#ifndef PLANAR
  sum = plus(sum, dot(change(steps.of<S::F>()), s), g.beside<AXIS, S::F>(c, HIGH));
#endif
  return reciprocal(g.volume<AXIS>(c, HIGH)) * sum;
}

struct Passing {
  double mass;
  Sums<10> of;  // force of pressure, of friction, moment of both, and heat, on what is beyond
};
template <class Geometry, class Heat, class X, class Y_, class Z_>
FN Passing passing(const Fields& q, Heat T, InByte sides, const Geometry& g, X x, Y_ y, Z_ z, const Cell& cell, const Steps& steps, Index R, Index S,
                   const Numbers& n, const Lever& about) {
  const Outermost c{cell};
  const Index at = Index(cell) + HIGH * steps.of<AXIS>();
  const double sign = HIGH ? 1 : -1;
  const Flux flux = through<AXIS, HIGH>(q, g, sides, c, steps, n.compressibility, n);
  const auto conduct = diffusion<AXIS, HIGH>(g, c);
  const real mass = flux.carried.p + flux.added.p;
  const double heat = heat_through<AXIS, HIGH>(T, mass, conduct, sides, c, steps, n);
  const double p[3] = {sign * flux.carried.u.x, sign * flux.carried.u.y, sign * flux.carried.u.z}, nu = -sign * n.viscosity;
  const Vector turned = transposed(q, g, cell, at, steps);
  const double f[3] = {nu * (conduct(q.u, at, steps) + turned.x), nu * (conduct(q.v, at, steps) + turned.y),
                       nu * (conduct(q.w, at, steps) + turned.z)};
  const Position place = middle(x, y, z, cell, at, R, S, about);
  const double r[3] = {place.x - about.point[0], place.y - about.point[1], place.z - about.point[2]};
  const double a = p[0] + f[0], b = p[1] + f[1], d = p[2] + f[2];
  return {sign * mass, {{p[0], p[1], p[2], f[0], f[1], f[2], r[1] * d - r[2] * b, r[2] * a - r[0] * d, r[0] * b - r[1] * a, sign * heat}}};
}

TASK largest_passing(Range range, In p, In u, In v, In w OPTIONAL(T), InByte sides OPTIONAL(metrics) OPTIONAL(x) OPTIONAL(y) OPTIONAL(z),
                     Partial most, Numbers numbers, Lever about) {
  FRAME(range)
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  reduce_cells(range, most, MAX, CELL(c) {
    const Passing here = passing(q, T, sides, g, x, y, z, c, {X, Y, Z}, R, S, numbers, about);
    double largest = magnitude(here.mass);
    for (int n = 0; n < 10; ++n) largest = Max::fold(largest, here.of.of[n] < 0 ? -here.of.of[n] : here.of.of[n]);
    return largest;
  });
}

TASK force_on_side(Range range, In p, In u, In v, In w OPTIONAL(T), InByte sides OPTIONAL(metrics) OPTIONAL(x) OPTIONAL(y) OPTIONAL(z),
                   ExactPartial<10> force, In64 most, Numbers numbers, Lever about) {
  FRAME(range)
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  exact_sum_cells(range, force, most, CELL(c) { return passing(q, T, sides, g, x, y, z, c, {X, Y, Z}, R, S, numbers, about).of; });
}

TASK mass_through_side(Range range, In p, In u, In v, In w, InByte sides OPTIONAL(metrics), ExactPartial<1> mass, In64 most, Numbers numbers) {
  FRAME(range)
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  exact_sum_cells(range, mass, most, CELL(c) {
    const Flux flux = through<AXIS, HIGH>(q, g, sides, Outermost{c}, {X, Y, Z}, numbers.compressibility, numbers);
    return Sums<1>{{(HIGH ? 1 : -1) * double(flux.carried.p + flux.added.p)}};
  });
}
