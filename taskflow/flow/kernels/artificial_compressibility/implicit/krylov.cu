// Vectors of a Krylov space: each has four numbers of a cell, V(c, 4 n + m), with heat W(c, n), too, and the square of its length is the
// sum over cells of weight p^2 + u^2 + v^2 + w^2 + warmth T^2. Which are there, scalars say.
#include "cell.h"

constexpr int AT_ONCE = 10;

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
FN double product(const Entry<4>& a, const Entry<4>& b, real weight, real) {
  return double(weight) * double(a.of[0]) * double(b.of[0]) +
         ((double(a.of[1]) * double(b.of[1]) + double(a.of[2]) * double(b.of[2])) + double(a.of[3]) * double(b.of[3]));
}
FN double product(const Entry<5>& a, const Entry<5>& b, real weight, real warmth) {
  const Entry<4> flow{{a.of[0], a.of[1], a.of[2], a.of[3]}}, other{{b.of[0], b.of[1], b.of[2], b.of[3]}};
  return product(flow, other, weight, warmth) + double(warmth) * double(a.of[4]) * double(b.of[4]);
}
template <class V>
FN Entry<4> vector(const V& vectors, None, const Cell& c, int n) {
  return {{vectors(c, 4 * n), vectors(c, 4 * n + 1), vectors(c, 4 * n + 2), vectors(c, 4 * n + 3)}};
}
template <class V, class W>
FN Entry<5> vector(const V& vectors, const W& warm, const Cell& c, int n) {
  return {{vectors(c, 4 * n), vectors(c, 4 * n + 1), vectors(c, 4 * n + 2), vectors(c, 4 * n + 3), warm(c, n)}};
}
template <class V>
FN void keep(const V& vectors, None, const Cell& c, int n, const Entry<4>& a) {
  for (int m = 0; m < 4; ++m) vectors(c, 4 * n + m) = a.of[m];
}
template <class V, class W>
FN void keep(const V& vectors, const W& warm, const Cell& c, int n, const Entry<5>& a) {
  for (int m = 0; m < 4; ++m) vectors(c, 4 * n + m) = a.of[m];
  warm(c, n) = a.of[4];
}
FN void empty(None, const Cell&) {}
template <class W>
FN void empty(const W& warm, const Cell& c) {
  for (int n = 1; n < 21; ++n) warm(c, n) = 0;
}

// a without its parts along the first vectors
template <int N, class V, class W>
FN Entry<N> without(Entry<N> a, const V& vectors, const W& warm, const Cell& c, const ExactIn64<10>& low, const ExactIn64<10>& high, int count) {
  for (int n = 0; n < count; ++n) {
    const real h = real(n < AT_ONCE ? low[n] : high[n - AT_ONCE]);
    const Entry<N> v = vector(vectors, warm, c, n);
    for (int m = 0; m < N; ++m) a.of[m] -= h * v.of[m];
  }
  return a;
}

TASK largest_square(Range range, In p, In u, In v, In w OPTIONAL(T), Partial most, real weight, real warmth) {
  reduce_cells(range, most, MAX, CELL(c) {
    const auto a = entry(p, u, v, w, T, c);
    return product(a, a, weight, warmth);
  });
}

TASK square(Range range, In p, In u, In v, In w OPTIONAL(T), ExactPartial<1> squares, In64 most, real weight, real warmth) {
  exact_sum_cells(range, squares, most, CELL(c) {
    const auto a = entry(p, u, v, w, T, c);
    return Sums<1>{{product(a, a, weight, warmth)}};
  });
}

TASK first_vector(Range range, In p_r, In u_r, In v_r, In w_r OPTIONAL(T_r), OutPrivate<84, Real_vectors> vectors OPTIONAL(warm_set), Out p, Out u,
                  Out v, Out w OPTIONAL(T_set), In64 scale) {
  const real by = real(*scale);
  for_cells(range, CELL(c) {
    const auto a = times(by, entry(p_r, u_r, v_r, w_r, T_r, c));
    put(a, p, u, v, w, T_set, c);
    keep(vectors, warm_set, c, 0, a);
    for (int n = 4; n < 84; ++n) vectors(c, n) = 0;
    empty(warm_set, c);
  });
}

TASK products(Range range, InPrivate<84, Real_vectors> vectors OPTIONAL(warm), In p, In u, In v, In w OPTIONAL(T), ExactPartial<10> along,
              In64 most, In64 count, int first, real weight, real warmth) {
  const int present = int(*count) - first;
  const double bound = ROOT(*most);
  exact_sum_cells(range, along, bound, CELL(c) {
    const auto a = entry(p, u, v, w, T, c);
    Sums<10> sums;
    for (int n = 0; n < AT_ONCE; ++n) sums.of[n] = n < present ? product(a, vector(vectors, warm, c, first + n), weight, warmth) : 0;
    return sums;
  });
}

TASK orthogonal(Range range, InPrivate<84, Real_vectors> vectors OPTIONAL(warm), InOut p, InOut u, InOut v, InOut w OPTIONAL(T_kept),
                ExactIn64<10> low, ExactIn64<10> high, In64 count, Partial most, real weight, real warmth) {
  const int present = int(*count);
  reduce_cells(range, most, MAX, CELL(c) {
    const auto a = without(entry(p, u, v, w, T_kept, c), vectors, warm, c, low, high, present);
    put(a, p, u, v, w, T_kept, c);
    return product(a, a, weight, warmth);
  });
}

TASK next_vector(Range range, InOutPrivate<84, Real_vectors> vectors OPTIONAL(warm_kept), InOut p, InOut u, InOut v, InOut w OPTIONAL(T_kept),
                 ExactIn64<10> low, ExactIn64<10> high, In64 count, In64 scale) {
  const int present = int(*count);
  const real by = real(*scale);
  for_cells(range, CELL(c) {
    const auto a = times(by, without(entry(p, u, v, w, T_kept, c), vectors, warm_kept, c, low, high, present));
    put(a, p, u, v, w, T_kept, c);
    keep(vectors, warm_kept, c, present, a);
  });
}

TASK combined(Range range, InPrivate<84, Real_vectors> vectors OPTIONAL(warm), Out p, Out u, Out v, Out w OPTIONAL(T_set), In64Of<20> share,
              In64 count) {
  const int present = int(*count);
  for_cells(range, CELL(c) {
    decltype(vector(vectors, warm, c, 0)) a{};
    for (int n = 0; n < present; ++n) add(a, real(share[n]), vector(vectors, warm, c, n));
    put(a, p, u, v, w, T_set, c);
  });
}
