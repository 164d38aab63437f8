// Numbers of all cells: the longest step of all, the compressibility of each, norms of residuals, the level of the pressure.
#include "cell.h"
#include "pace.h"
#include "surfaces.h"

FN real compressible(None, Index, const Numbers& n) { return n.compressibility; }
FN real compressible(In b, Index c, const Numbers&) { return b[c]; }

TASK least_step(Range range, In u, In v, In w OPTIONAL(metrics) OPTIONAL(b) OPTIONAL(nu_t), Partial dtau, Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const auto g = geometry(metrics, numbers);
  reduce_cells(range, dtau, MIN, CELL(c) {
    return g.volume(c) * reciprocal(per_step(g, c, {u[c], v[c], w[c]}, compressible(b, c, numbers), numbers, None{}, nu_t, steps));
  });
}

TASK fastest(Range range, In u, In v, In w OPTIONAL(metrics), Partial rate, Numbers numbers) {
  const auto g = geometry(metrics, numbers);
  reduce_cells(range, rate, MAX, CELL(c) {
    const Vector here{u[c], v[c], w[c]};
    const real x = magnitude(dot(g.template mean<0>(c), here)), y = magnitude(dot(g.template mean<1>(c), here));
#ifdef PLANAR
    return (x + y) * g.inverse_volume(c) * numbers.per_length;
#else
    return ((x + y) + magnitude(dot(g.template mean<2>(c), here))) * g.inverse_volume(c) * numbers.per_length;
#endif
  });
}

template <int D, class Geometry>
FN real to_exceed(const Geometry& g, const Cell& c, Vector u, InValues<3> swept) {
  const auto s = g.template mean<D>(c);
  const real theta = dot(s, u);
  return theta * (swept_across<D>(swept, c) - theta) * reciprocal(square(s));
}

TASK compressibility_to_exceed(Range range, In u, In v, In w OPTIONAL(metrics), InValues<3> swept, Out least, Partial most, Numbers numbers) {
  const auto g = geometry(metrics, numbers);
  reduce_cells(range, most, MAX, CELL(c) {
    const Vector here{u[c], v[c], w[c]};
    real worst = Max::fold(to_exceed<0>(g, c, here, swept), to_exceed<1>(g, c, here, swept));
#ifndef PLANAR
    worst = Max::fold(worst, to_exceed<2>(g, c, here, swept));
#endif
    least[c] = least_zero(worst);
    return double(least_zero(worst));
  });
}

TASK local_compressibility(Range range, In u, In v, In w, Out b, real least) {
  for_cells(range, CELL(c) {
    const real square = u[c] * u[c] + v[c] * v[c] + w[c] * w[c];
    b[c] = square > least ? square : least;
  });
}

TASK largest(Range range, In q, Partial most) { reduce_cells(range, most, MAX, CELL(c) { return magnitude(q[c]); }); }

TASK sum_of_squares(Range range, In q, ExactPartial<1> squares, In64 most) {
  exact_sum_cells(range, squares, *most * *most, CELL(c) { return Sums<1>{{double(q[c]) * double(q[c])}}; });
}

TASK content(Range range, In q OPTIONAL(metrics) OPTIONAL(fluid), ExactPartial<2> sums, In64 most, Numbers numbers) {
  const auto g = geometry(metrics, numbers);
  const double largest = numbers.volume, bound = *most * largest;
  exact_sum_cells(range, sums, Sums<2>{{largest, bound}}, CELL(c) {
    const double volume = filled(g.volume(c), fluid, c);
    return Sums<2>{{volume, volume * double(q[c])}};
  });
}

TASK take_off_mean(Range range, InOut q, ExactIn64<2> sums) {
  const real mean = real(sums[1] / sums[0]);
  for_cells(range, CELL(c) { q[c] -= mean; });
}

TASK value(Range range, In q, Partial number) { reduce_cells(range, number, SUM, CELL(c) { return double(q[c]); }); }

TASK take_off(Range range, InOut q, In64 number) {
  const real level = real(*number);
  for_cells(range, CELL(c) { q[c] -= level; });
}
