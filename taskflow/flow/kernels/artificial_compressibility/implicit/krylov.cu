// Vectors of a Krylov space: each has four numbers of a cell, V(c, 4 n + m), with heat W(c, n), too, and the square of its length is the
// sum over cells of weights.pressure p^2 + u^2 + v^2 + w^2 + weights.heat T^2. Which are there, scalars say.
#include "cell.h"

constexpr int AT_ONCE = 10, PART = 20;

template <int N>
struct Entry {
  real of[N];
};
FN Entry<4> entry(In p, In u, In v, In w, None, Index c) { return {{p[c], u[c], v[c], w[c]}}; }
FN Entry<5> entry(In p, In u, In v, In w, In T, Index c) { return {{p[c], u[c], v[c], w[c], T[c]}}; }
FN void put(const Entry<4>& a, Out p, Out u, Out v, Out w, None, Index c) { p[c] = a.of[0], u[c] = a.of[1], v[c] = a.of[2], w[c] = a.of[3]; }
FN void put(const Entry<5>& a, Out p, Out u, Out v, Out w, Out T, Index c) {
  p[c] = a.of[0], u[c] = a.of[1], v[c] = a.of[2], w[c] = a.of[3], T[c] = a.of[4];
}
template <int N>
FN Entry<N> times(real by, Entry<N> a) {
  for (int m = 0; m < N; ++m) a.of[m] *= by;
  return a;
}
template <int N>
FN void add(Entry<N>& a, real by, const Entry<N>& other) {
  for (int m = 0; m < N; ++m) a.of[m] += by * other.of[m];
}
FN double product(const Entry<4>& a, const Entry<4>& b, const Weights& weights) {
  return double(weights.pressure) * double(a.of[0]) * double(b.of[0]) +
         ((double(a.of[1]) * double(b.of[1]) + double(a.of[2]) * double(b.of[2])) + double(a.of[3]) * double(b.of[3]));
}
FN double product(const Entry<5>& a, const Entry<5>& b, const Weights& weights) {
  const Entry<4> flow{{a.of[0], a.of[1], a.of[2], a.of[3]}}, other{{b.of[0], b.of[1], b.of[2], b.of[3]}};
  return product(flow, other, weights) + double(weights.heat) * double(a.of[4]) * double(b.of[4]);
}
// The vectors of a field, and of a second one behind them, if there is one
template <class V, class Later>
struct Space {
  V vectors;
  Later later;
  static constexpr int room = present<Later> ? 2 * PART : PART;
  INLINE real operator()(const Cell& c, int n, int m) const {
    if constexpr (present<Later>) {
      if (n >= PART) return later(c, 4 * (n - PART) + m);
    }
    return vectors(c, 4 * n + m);
  }
  INLINE void keep(const Cell& c, int n, int m, real value) const {
    if constexpr (present<Later>) {
      if (n >= PART) {
        later(c, 4 * (n - PART) + m) = value;
        return;
      }
    }
    vectors(c, 4 * n + m) = value;
  }
};
template <class V, class Later>
FN Space<V, Later> space(const V& vectors, const Later& later) { return {vectors, later}; }

template <class S>
FN Entry<4> vector(const S& space, None, const Cell& c, int n) { return {{space(c, n, 0), space(c, n, 1), space(c, n, 2), space(c, n, 3)}}; }
template <class S, class W>
FN Entry<5> vector(const S& space, const W& warm, const Cell& c, int n) {
  return {{space(c, n, 0), space(c, n, 1), space(c, n, 2), space(c, n, 3), warm(c, n)}};
}
template <class S>
FN void keep(const S& space, None, const Cell& c, int n, const Entry<4>& a) {
  for (int m = 0; m < 4; ++m) space.keep(c, n, m, a.of[m]);
}
template <class S, class W>
FN void keep(const S& space, const W& warm, const Cell& c, int n, const Entry<5>& a) {
  for (int m = 0; m < 4; ++m) space.keep(c, n, m, a.of[m]);
  warm(c, n) = a.of[4];
}
FN void empty(None, const Cell&, int) {}
template <class V>
FN void empty(const V& values, const Cell& c, int count) {
  for (int n = 0; n < count; ++n) values(c, n) = 0;
}

TASK largest_square(Range range, In p, In u, In v, In w OPTIONAL(T), Partial most, Weights weights) {
  reduce_cells(range, most, MAX, CELL(c) {
    const auto a = entry(p, u, v, w, T, c);
    return product(a, a, weights);
  });
}

TASK square(Range range, In p, In u, In v, In w OPTIONAL(T), ExactPartial<1> squares, In64 most, Weights weights) {
  exact_sum_cells(range, squares, most, CELL(c) {
    const auto a = entry(p, u, v, w, T, c);
    return Sums<1>{{product(a, a, weights)}};
  });
}

TASK first_vector(Range range, In p_r, In u_r, In v_r, In w_r OPTIONAL(T_r), OutPrivate<80, Real_vectors> vectors OPTIONAL(later_set) OPTIONAL(warm_set),
                  Out p, Out u, Out v, Out w OPTIONAL(T_set), In64 scale) {
  const real by = real(*scale);
  const auto all = space(vectors, later_set);
  for_cells(range, CELL(c) {
    const auto a = times(by, entry(p_r, u_r, v_r, w_r, T_r, c));
    empty(vectors, c, 4 * PART), empty(later_set, c, 4 * PART), empty(warm_set, c, 2 * PART);
    keep(all, warm_set, c, 0, a);
    put(vector(all, warm_set, c, 0), p, u, v, w, T_set, c);
  });
}

TASK products(Range range, InPrivate<80, Real_vectors> vectors OPTIONAL(later) OPTIONAL(warm), In p, In u, In v, In w OPTIONAL(T), ExactPartial<10> along,
              In64 most, In64 count, int first, Weights weights) {
  const int present = int(*count) - first;
  const double bound = ROOT(*most);
  const auto all = space(vectors, later);
  exact_sum_cells(range, along, bound, CELL(c) {
    const auto a = entry(p, u, v, w, T, c);
    Sums<10> sums;
    for (int n = 0; n < AT_ONCE; ++n) sums.of[n] = n < present ? product(a, vector(all, warm, c, first + n), weights) : 0;
    return sums;
  });
}

TASK orthogonal(Range range, InPrivate<80, Real_vectors> vectors OPTIONAL(later) OPTIONAL(warm), InOut p, InOut u, InOut v, InOut w OPTIONAL(T_kept),
                ExactIn64<10> along_0, ExactIn64<10> along_1, ExactIn64<10> along_2, ExactIn64<10> along_3, In64 count, Partial most, Weights weights) {
  const int present = int(*count);
  const auto all = space(vectors, later);
  reduce_cells(range, most, MAX, CELL(c) {
    auto a = entry(p, u, v, w, T_kept, c);
    for (int n = 0; n < present; ++n) {
      const int part = n / AT_ONCE, m = n % AT_ONCE;
      add(a, real(-(part == 0 ? along_0[m] : part == 1 ? along_1[m] : part == 2 ? along_2[m] : along_3[m])), vector(all, warm, c, n));
    }
    put(a, p, u, v, w, T_kept, c);
    return product(a, a, weights);
  });
}

TASK next_vector(Range range, InOutPrivate<80, Real_vectors> vectors OPTIONAL(later_kept) OPTIONAL(warm_kept), InOut p, InOut u, InOut v,
                 InOut w OPTIONAL(T_kept), In64 place, In64 scale) {
  const auto all = space(vectors, later_kept);
  const int n = int(*place);
  const real by = real(*scale);
  if (n >= all.room) return;
  for_cells(range, CELL(c) {
    keep(all, warm_kept, c, n, times(by, entry(p, u, v, w, T_kept, c)));
    put(vector(all, warm_kept, c, n), p, u, v, w, T_kept, c);
  });
}

TASK combined(Range range, InPrivate<80, Real_vectors> vectors OPTIONAL(later) OPTIONAL(warm), Out p, Out u, Out v, Out w OPTIONAL(T_set), In64Of<40> share,
              In64 count) {
  const int present = int(*count);
  const auto all = space(vectors, later);
  for_cells(range, CELL(c) {
    decltype(vector(all, warm, c, 0)) a{};
    for (int n = 0; n < present; ++n) add(a, real(share[n]), vector(all, warm, c, n));
    put(a, p, u, v, w, T_set, c);
  });
}
