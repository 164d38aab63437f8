// Vectors of a Krylov space: each has four numbers of a cell, V(c, 4 n + m), with heat W(c, n), too, and the square of its length is the
// sum over cells of weights.pressure p^2 + u^2 + v^2 + w^2 + weights.heat T^2. Which are there, scalars say.
#define UZ 32
#define UNROLL 1
#include "strips.h"

constexpr int AT_ONCE = 10, PART = 20;

template <int N>
struct Entry {
  static constexpr int COUNT = N;
  real of[N];
};
template <class Field>
FN Entry<4> entry(Field p, Field u, Field v, Field w, None, Index c) { return {{p[c], u[c], v[c], w[c]}}; }
template <class Field>
FN Entry<5> entry(Field p, Field u, Field v, Field w, Field T, Index c) { return {{p[c], u[c], v[c], w[c], T[c]}}; }
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
// A vector in the field that has it: from value `first` of a cell on
template <class V>
struct VectorIn {
  V field;
  int first;
  INLINE real operator()(const Cell& c, int m) const { return field(c, first + m); }
  INLINE VectorIn behind(int n) const { return {field, first + 4 * n}; }  // the n-th behind it, which is in the same field
  INLINE Entry<4> keep(const Cell& c, real p, real u, real v, real w) const {
    field(c, first) = p, field(c, first + 1) = u, field(c, first + 2) = v, field(c, first + 3) = w;
    return {{V::rounded(p), V::rounded(u), V::rounded(v), V::rounded(w)}};
  }
};
// The vectors of a field, and of a second one behind them, if there is one. Both have one precision.
template <class V, class Later>
struct Space {
  V vectors;
  Later later;
  static constexpr int room = present<Later> ? 2 * PART : PART;
  INLINE VectorIn<V> of(int n) const {
    if constexpr (present<Later>) {
      if (n >= PART) return {later, 4 * (n - PART)};
    }
    return {vectors, 4 * n};
  }
};
template <class V, class Later>
FN Space<V, Later> space(const V& vectors, const Later& later) { return {vectors, later}; }

template <class V>
FN Entry<4> vector(const VectorIn<V>& one, None, const Cell& c, int) {
  return {{one(c, 0), one(c, 1), one(c, 2), one(c, 3)}};
}
template <class V, class W>
FN Entry<5> vector(const VectorIn<V>& one, const W& warm, const Cell& c, int n) {
  return {{one(c, 0), one(c, 1), one(c, 2), one(c, 3), warm(c, n)}};
}
// Keeps a vector, and returns it as it is stored.
template <class V>
FN Entry<4> keep(const VectorIn<V>& one, None, const Cell& c, int, const Entry<4>& a) { return one.keep(c, a.of[0], a.of[1], a.of[2], a.of[3]); }
template <class V, class W>
FN Entry<5> keep(const VectorIn<V>& one, const W& warm, const Cell& c, int n, const Entry<5>& a) {
  const auto flow = one.keep(c, a.of[0], a.of[1], a.of[2], a.of[3]);
  warm(c, n) = a.of[4];
  return {{flow.of[0], flow.of[1], flow.of[2], flow.of[3], W::rounded(a.of[4])}};
}
FN void empty(None, const Cell&, int, int) {}
template <class V>
FN void empty(const V& values, const Cell& c, int cells, int count) {
  for (int n = 0; n < count; ++n) side_by_side(cells, BESIDE(l) { values(beside(c, l), n) = 0; });
}

// The products with all vectors, in parts
struct Along {
  ExactIn64<AT_ONCE> parts[4];
  INLINE double operator[](int n) const {
    const int part = n / AT_ONCE, m = n % AT_ONCE;
    return part == 0 ? parts[0][m] : part == 1 ? parts[1][m] : part == 2 ? parts[2][m] : parts[3][m];
  }
};
// Numbers for the vectors that are there, f(n), which a thread block finds once for all cells, and so does a CPU
struct Once {
#ifdef GPU
  const real* of;
#else
  real of[2 * PART];
#endif
  INLINE real operator[](int n) const { return of[n]; }
};
template <class F>
FN Once once(int count, F f) {
#ifdef GPU
  __shared__ real of[2 * PART];
  const int me = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int n = 0; n < 2 * PART; ++n)  // by numbers that are known: what f leads to would be copied for each thread else
    if (n % 32 == me && n < count) of[n] = f(n);
  __syncthreads();
  return {of};
#else
  Once all{};
  for (int n = 0; n < count; ++n) all.of[n] = f(n);
  return all;
#endif
}

// Entries of cells side by side
template <int N>
struct Entries {
  real of[N][STRIP] = {};
  INLINE Entry<N> operator[](int l) const {
    Entry<N> a;
    for (int m = 0; m < N; ++m) a.of[m] = of[m][l];
    return a;
  }
  INLINE void set(int l, const Entry<N>& a) {
    for (int m = 0; m < N; ++m) of[m][l] = a.of[m];
  }
  // Adds the sum of shares[n] vectors[n] of the first `count` vectors, one or more.
  template <class S, class W>
  INLINE void add_vectors(const S& all, const W& warm, const Once& shares, int count, const Cell& c, int cells) {
#ifdef GPU
    auto a = (*this)[0];
    for (int first = 0; first < count; first += AT_ONCE) {
      const auto part = all.of(first);
      Entry<N> some[AT_ONCE];  // all are on the way before one is added
#pragma unroll
      for (int m = 0; m < AT_ONCE; ++m) {
        const int n = first + m < count ? m : count - 1 - first;
        some[m] = vector(part.behind(n), warm, c, first + n);
      }
#pragma unroll
      for (int m = 0; m < AT_ONCE; ++m)
        if (first + m < count) add(a, shares[first + m], some[m]);
    }
    set(0, a);
#else
    for (int n = 0; n < count; ++n) {
      const auto one = all.of(n);
      const real by = shares[n];
      side_by_side(cells, BESIDE(l) {
        const auto v = vector(one, warm, beside(c, l), n);
        for (int m = 0; m < N; ++m) of[m][l] += by * v.of[m];
      });
    }
#endif
  }
};

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

TASK first_vector(Range range, InOf<Real_p_r> p_r, InOf<Real_u_r> u_r, InOf<Real_v_r> v_r, InOf<Real_w_r> w_r OPTIONAL(T_r),
                  OutPrivateRows<80, Real_vectors> vectors OPTIONAL(later_set) OPTIONAL(warm_set), Out p, Out u, Out v, Out w OPTIONAL(T_set), In64 scale) {
  const real by = real(*scale);
  const auto all = space(vectors, later_set);
  for_strips(range, CELLS(c, cells) {
    empty(vectors, c, cells, 4 * PART), empty(later_set, c, cells, 4 * PART), empty(warm_set, c, cells, 2 * PART);
    side_by_side(cells, BESIDE(l) {
      const auto d = beside(c, l);
      put(keep(all.of(0), warm_set, d, 0, times(by, entry(p_r, u_r, v_r, w_r, T_r, d))), p, u, v, w, T_set, d);
    });
  });
}

TASK products(Range range, InPrivateRows<80, Real_vectors> vectors OPTIONAL(later) OPTIONAL(warm), In p, In u, In v, In w OPTIONAL(T), ExactPartial<10> along,
              In64 most, In64 count, int first, Weights weights) {
  const int present = int(*count) - first;
  const double bound = ROOT(*most);
  const auto part = space(vectors, later).of(first);
  exact_sum_cells(range, along, bound, present, CELL(c) { return entry(p, u, v, w, T, c); },
                  [=](int n) {
                    const auto one = part.behind(n);
                    return TERM(c, a) { return product(a, vector(one, warm, c, first + n), weights); };
                  });
}

TASK orthogonal(Range range, InPrivateRows<80, Real_vectors> vectors OPTIONAL(later) OPTIONAL(warm), InOut p, InOut u, InOut v, InOut w OPTIONAL(T_kept),
                ExactIn64<10> along_0, ExactIn64<10> along_1, ExactIn64<10> along_2, ExactIn64<10> along_3, In64 count, Partial most, Weights weights) {
  const int made = int(*count);
  const auto all = space(vectors, later);
  const Along along = {{along_0, along_1, along_2, along_3}};
  const auto shares = once(made, CELL(n) { return real(-along[n]); });
  reduce_strips(range, most, MAX, CELLS(c, cells, double* squares) {
    Entries<decltype(vector(all.of(0), warm, c, 0))::COUNT> a;
    side_by_side(cells, BESIDE(l) { a.set(l, entry(p, u, v, w, T_kept, beside(c, l))); });
    a.add_vectors(all, warm, shares, made, c, cells);
    side_by_side(cells, BESIDE(l) {
      put(a[l], p, u, v, w, T_kept, beside(c, l));
      squares[l] = product(a[l], a[l], weights);
    });
  });
}

TASK next_vector(Range range, InOutPrivateRows<80, Real_vectors> vectors OPTIONAL(later_kept) OPTIONAL(warm_kept), InOut p, InOut u, InOut v,
                 InOut w OPTIONAL(T_kept), In64 place, In64 scale) {
  const auto all = space(vectors, later_kept);
  const int n = int(*place);
  const real by = real(*scale);
  if (n >= all.room) return;
  const auto one = all.of(n);
  for_strips(range, CELLS(c, cells) {
    side_by_side(cells, BESIDE(l) {
      const auto d = beside(c, l);
      put(keep(one, warm_kept, d, n, times(by, entry(p, u, v, w, T_kept, d))), p, u, v, w, T_kept, d);
    });
  });
}

TASK combined(Range range, InPrivateRows<80, Real_vectors> vectors OPTIONAL(later) OPTIONAL(warm), Out p, Out u, Out v, Out w OPTIONAL(T_set), In64Of<40> share,
              In64 count) {
  const int made = int(*count);
  const auto all = space(vectors, later);
  const auto shares = once(made, CELL(n) { return real(share[n]); });
  for_strips(range, CELLS(c, cells) {
    Entries<decltype(vector(all.of(0), warm, c, 0))::COUNT> a;
    a.add_vectors(all, warm, shares, made, c, cells);
    side_by_side(cells, BESIDE(l) { put(a[l], p, u, v, w, T_set, beside(c, l)); });
  });
}
