// What passes the faces of a side, from the very fluxes that a stage has there: force, moment, heat and mass.
#include "cell.h"
#include "balance.h"

struct Position {
  double x, y, z;
};
FN Position middle(None, None, None, Index, Index, Index, const Lever& about) { return {about.point[0], about.point[1], about.point[2]}; }
FN Position middle(In x, In y, In z, Index at, Index R, Index S, const Lever&) {
  const auto mean = [=](In q) { return 0.25 * ((double(q[at]) + q[at + R + S]) + (double(q[at + R]) + q[at + S])); };
  return {mean(x), mean(y), mean(z)};
}

// (grad u)^T . S - S div u, which with grad u . S makes the whole stress: the integral of dl x u around the face, of which there is
// nothing left over a closed wall. On edges u is the mean of that of the walls on both sides. It is 0 on walls that do not turn.
FN Vector cross(Vector a, Vector b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
template <class Geometry>
FN Vector transposed(const Fields&, const Geometry&, None, None, None, Index, Index, Index, Index) { return {0, 0, 0}; }
FN Vector transposed(const Fields&, const Uniform<Numbers>&, In, In, In, Index, Index, Index, Index) { return {0, 0, 0}; }
FN Vector transposed(const Fields& q, const Stored&, In x, In y, In z, Index f, Index A, Index R, Index S) {
  const auto along = [&](Index from, Index to, Index beside) {
    const Vector edge{x[to] - x[from], y[to] - y[from], z[to] - z[from]};
    const Vector here = q.velocity(f) + q.velocity(f - A), there = q.velocity(f + beside) + q.velocity(f - A + beside);
    return cross(edge, here + there);
  };
  Vector sum = along(f + R, f + R + S, R) + along(f + S, f, -R);
#ifndef PLANAR
  sum = sum + (along(f, f + R, -S) + along(f + R + S, f + S, S));
#endif
  return real(AXIS == 1 ? -0.25 : 0.25) * sum;
}

// With eddies friction is the whole stress already
template <class Geometry, class X, class Y_, class Z_>
FN Vector rest(None, const Fields& q, const Geometry& g, X x, Y_ y, Z_ z, Index f, Index A, Index R, Index S) { return transposed(q, g, x, y, z, f, A, R, S); }
template <class Geometry, class X, class Y_, class Z_>
FN Vector rest(In, const Fields&, const Geometry&, X, Y_, Z_, Index, Index, Index, Index) { return {0, 0, 0}; }

struct OnFace {
  double mass;
  Sums<10> of;  // force of pressure, of friction, moment of both, and heat, on what is beyond
};
template <class Geometry, class Heat, class X, class Y_, class Z_, class Eddies, class Aperture>
FN OnFace leaving(const Fields& q, Heat T, InByte sides, const Geometry& g, Eddies nu_t, Aperture aperture, X x, Y_ y, Z_ z, const Cell& cell, const Steps& steps,
                   Index R, Index S, const Numbers& n, const Lever& about) {
  const Index A = steps.of<AXIS>();
  const auto f = end_face<AXIS>(cell, HIGH, A);
  const Lying side = lying_on(sides, f, A);
  const double sign = (HIGH ? 1 : -1) * double(open_share(aperture, f));
  const auto flux = through(continued(rows(q, f, A), aperture, f, side), g, f, side, compressibility(None{}, n, f, f), n, None{});
  const auto conduct = diffusion<AXIS>(g, f);
  const real mass = flux.mass();
  const Vector carried = flux.carried().u;
  double heat = 0;
  if constexpr (present<Heat>) heat = heat_through(heat_on(T, conduct, f, steps), mass, side, diffusivity_on(nu_t, n, f - A, f), n);
  const double p[3] = {sign * carried.x, sign * carried.y, sign * carried.z}, nu = -sign * viscosity_on(nu_t, n, f - A, f);
  const Vector straight = strain_on<AXIS>(nu_t, g, conduct, q.u, q.v, q.w, f, steps), turned = rest(nu_t, q, g, x, y, z, f, A, R, S);
  const double t[3] = {nu * (straight.x + turned.x), nu * (straight.y + turned.y), nu * (straight.z + turned.z)};
  const Position place = middle(x, y, z, f, R, S, about);
  const double r[3] = {place.x - about.point[0], place.y - about.point[1], place.z - about.point[2]};
  const double a = p[0] + t[0], b = p[1] + t[1], d = p[2] + t[2];
  return {sign * mass, {{p[0], p[1], p[2], t[0], t[1], t[2], r[1] * d - r[2] * b, r[2] * a - r[0] * d, r[0] * b - r[1] * a, sign * heat}}};
}

TASK largest_passing(Range range, In p, In u, In v, In w OPTIONAL(T), InByte sides OPTIONAL(metrics) OPTIONAL(nu_t) OPTIONAL(aperture) OPTIONAL(x) OPTIONAL(y)
                     OPTIONAL(z), Partial most, Numbers numbers, Lever about) {
  FRAME(range)
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  reduce_cells(range, most, MAX, CELL(c) {
    const OnFace here = leaving(q, T, sides, g, nu_t, aperture, x, y, z, c, {X, Y, Z}, R, S, numbers, about);
    double largest = magnitude(here.mass);
    for (int n = 0; n < 10; ++n) largest = Max::fold(largest, here.of.of[n] < 0 ? -here.of.of[n] : here.of.of[n]);
    return largest;
  });
}

TASK force_on_side(Range range, In p, In u, In v, In w OPTIONAL(T), InByte sides OPTIONAL(metrics) OPTIONAL(nu_t) OPTIONAL(aperture) OPTIONAL(x) OPTIONAL(y)
                   OPTIONAL(z), ExactPartial<10> force, In64 most, Numbers numbers, Lever about) {
  FRAME(range)
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  exact_sum_cells(range, force, most, CELL(c) { return leaving(q, T, sides, g, nu_t, aperture, x, y, z, c, {X, Y, Z}, R, S, numbers, about).of; });
}

TASK mass_through_side(Range range, In p, In u, In v, In w, InByte sides OPTIONAL(metrics) OPTIONAL(aperture), ExactPartial<1> mass, In64 most, Numbers numbers) {
  FRAME(range)
  const Fields q{p, u, v, w};
  const Steps steps{X, Y, Z};
  const auto g = geometry(metrics, numbers);
  exact_sum_cells(range, mass, most, CELL(c) {
    const Index A = steps.of<AXIS>();
    const auto f = end_face<AXIS>(c, HIGH, A);
    const Lying side = lying_on(sides, f, A);
    const auto flux = through(continued(rows(q, f, A), aperture, f, side), g, f, side, compressibility(None{}, numbers, f, f), numbers, None{});
    return Sums<1>{{(HIGH ? 1 : -1) * double(open_share(aperture, f)) * double(flux.mass())}};
  });
}

// The temperature on a face, the mean of both sides of it, times its area; and that area
template <class Geometry, class Aperture>
FN Sums<2> warmth(In T, const Geometry& g, Aperture aperture, const Cell& cell, const Steps& steps) {
  const Index A = steps.of<AXIS>();
  const auto f = end_face<AXIS>(cell, HIGH, A);
  const double area = double(open_share(aperture, f)) * sqrt(double(square(g.template face<AXIS>(f))));
  return {{0.5 * (double(T[f - A]) + double(T[f])) * area, area}};
}

TASK largest_warmth(Range range, In T OPTIONAL(metrics) OPTIONAL(aperture), Partial most, Numbers numbers) {
  FRAME(range)
  const auto g = geometry(metrics, numbers);
  reduce_cells(range, most, MAX, CELL(c) {
    const auto here = warmth(T, g, aperture, c, {X, Y, Z});
    return Max::fold(magnitude(here.of[0]), here.of[1]);
  });
}

TASK warmth_of_side(Range range, In T OPTIONAL(metrics) OPTIONAL(aperture), ExactPartial<2> sums, In64 most, Numbers numbers) {
  FRAME(range)
  const auto g = geometry(metrics, numbers);
  exact_sum_cells(range, sums, most, CELL(c) { return warmth(T, g, aperture, c, {X, Y, Z}); });
}
