/// # Exact sums
/// exact_sum_cells(range, partials, bound, f): sums that are bitwise independent of blocks, f(c) being a Sums<N> of terms below 16 times their bound
// Sums that are bitwise identical in any order (after J. Demmel, H. D. Nguyen 2013, Proc. 21st IEEE Symp. Comput. Arith., 163): each
// number is split into multiples of three others, and sums of such multiples are exact.
struct ExactSum {
  static constexpr double FIRST = 68719476736.0, NEXT = 1.0 / 2097152.0;  // 2^36 and 2^-21

  // The value rounded to a multiple of the last place of `coarse`, which is much larger
  static INLINE double rounded(double value, double coarse) { return (value + coarse) - coarse; }

  // Multiples of 2^-17 bound, of 2^-38 bound, and of 2^-59 bound, or twice as much: their sums are exact for fewer than
  // 2^31 numbers with |value| < 16 bound.
  static INLINE Sums<3> cut(double value, double bound) {
    const double coarse = FIRST * bound, fine = NEXT * coarse, finest = NEXT * fine;
    const double most = rounded(value, coarse), more = rounded(value - most, fine);
    return {{most, more, rounded((value - most) - more, finest)}};
  }
};

// One bound for all sums, a number or a scalar, or one for each.
FN double bound_of(double bound, int) { return bound; }
FN double bound_of(In64 bound, int) { return *bound; }
template <int N>
FN double bound_of(const Sums<N>& bounds, int n) { return bounds.of[n]; }

// Several exact sums: f(cell) is a Sums<N> of terms below 16 times their bound. Beyond it, and if the bound is 0, they are plain
// sums: `exact_sum_cells(range, flux, bound, CELL(c) { return Sums<1>{{q[c]}}; });`
template <int N, class Bound, class F>
FN void exact_sum_cells(const Range& range, const ExactPartial<N>& partial, Bound bound, F f) {
  sum_cells(range, partial.of, CELL(c) {
    const Sums<N> values = f(c);
    Sums<3 * N> parts;
    for (int n = 0; n < N; ++n) {
      const Sums<3> one = ExactSum::cut(values.of[n], bound_of(bound, n));
      for (int m = 0; m < 3; ++m) parts.of[3 * n + m] = one.of[m];
    }
    return parts;
  });
}

// The same for the first `count` of N sums, with terms found one by one from common values of a cell: term(n)(c, own(c))
template <int N, class Own, class Term>
FN void exact_sum_cells(const Range& range, const ExactPartial<N>& partial, double bound, int count, Own own, Term term) {
#ifdef GPU
  Sums<3 * N> sums = {};
  for_cells(range, [&](Cell c) {
    const auto mine = own(c);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const double value = term(n < count ? n : 0)(c, mine);  // no branch before its loads
      const Sums<3> parts = ExactSum::cut(n < count ? value : 0, bound);
      for (int m = 0; m < 3; ++m) sums.of[3 * n + m] += parts.of[m];
    }
  });
  fold_all<Sum>(range, sums.of, partial.of);
#else
  fold_rows<Sum, 3 * N>(range, partial.of, [=](double (&lanes)[3 * N][LANES], Cell first, int cells) __attribute__((always_inline)) {
    for (int n = 0; n < count && n < N; ++n) {
      const auto its = term(n);
      double parts[3][LANES] = {};
      by_lanes(first, cells, [&](Cell c, int l) __attribute__((always_inline)) { fold_into<Sum>(parts, l, ExactSum::cut(its(c, own(c)), bound)); });
      for (int m = 0; m < 3; ++m)
        for (int l = 0; l < LANES; ++l) lanes[3 * n + m][l] += parts[m][l];
    }
  });
#endif
}
