// Vectors of a Krylov space: each has four numbers of a cell, V(c, 4 n + m), and the square of its length is the sum over cells of
// weight p^2 + u^2 + v^2 + w^2. Which are there, scalars say.
#include "cell.h"

constexpr int AT_ONCE = 10;

struct Four {
  real of[4];
};
FN Four four(In p, In u, In v, In w, Index c) { return {{p[c], u[c], v[c], w[c]}}; }
FN double product(const Four& a, const Four& b, real weight) {
  return double(weight) * double(a.of[0]) * double(b.of[0]) +
         ((double(a.of[1]) * double(b.of[1]) + double(a.of[2]) * double(b.of[2])) + double(a.of[3]) * double(b.of[3]));
}
FN void put(const Four& a, Out p, Out u, Out v, Out w, Index c) { p[c] = a.of[0], u[c] = a.of[1], v[c] = a.of[2], w[c] = a.of[3]; }
template <class V>
FN Four vector(const V& vectors, const Cell& c, int n) {
  return {{vectors(c, 4 * n), vectors(c, 4 * n + 1), vectors(c, 4 * n + 2), vectors(c, 4 * n + 3)}};
}
template <class V>
FN void keep(const V& vectors, const Cell& c, int n, const Four& a) {
  for (int m = 0; m < 4; ++m) vectors(c, 4 * n + m) = a.of[m];
}

// a without its parts along the first vectors
template <class V>
FN Four without(Four a, const V& vectors, const Cell& c, const ExactIn64<10>& low, const ExactIn64<10>& high, int count) {
  for (int n = 0; n < count; ++n) {
    const real h = real(n < AT_ONCE ? low[n] : high[n - AT_ONCE]);
    const Four v = vector(vectors, c, n);
    for (int m = 0; m < 4; ++m) a.of[m] -= h * v.of[m];
  }
  return a;
}

TASK largest_square(Range range, In p, In u, In v, In w, Partial most, real weight) {
  reduce_cells(range, most, MAX, CELL(c) {
    const Four a = four(p, u, v, w, c);
    return product(a, a, weight);
  });
}

TASK square(Range range, In p, In u, In v, In w, ExactPartial<1> squares, In64 most, real weight) {
  exact_sum_cells(range, squares, most, CELL(c) {
    const Four a = four(p, u, v, w, c);
    return Sums<1>{{product(a, a, weight)}};
  });
}

TASK first_vector(Range range, In p_r, In u_r, In v_r, In w_r, OutPrivate<84, Real_vectors> vectors, Out p, Out u, Out v, Out w, In64 scale) {
  const real by = real(*scale);
  for_cells(range, CELL(c) {
    const Four a{{by * p_r[c], by * u_r[c], by * v_r[c], by * w_r[c]}};
    put(a, p, u, v, w, c);
    keep(vectors, c, 0, a);
    for (int n = 4; n < 84; ++n) vectors(c, n) = 0;
  });
}

TASK products(Range range, InPrivate<84, Real_vectors> vectors, In p, In u, In v, In w, ExactPartial<10> along, In64 most, In64 count, int first, real weight) {
  const int present = int(*count) - first;
  const double bound = ROOT(*most);
  exact_sum_cells(range, along, bound, CELL(c) {
    const Four a = four(p, u, v, w, c);
    Sums<10> sums;
    for (int n = 0; n < AT_ONCE; ++n) sums.of[n] = n < present ? product(a, vector(vectors, c, first + n), weight) : 0;
    return sums;
  });
}

TASK orthogonal(Range range, InPrivate<84, Real_vectors> vectors, InOut p, InOut u, InOut v, InOut w, ExactIn64<10> low, ExactIn64<10> high, In64 count,
                Partial most, real weight) {
  const int present = int(*count);
  reduce_cells(range, most, MAX, CELL(c) {
    const Four a = without(four(p, u, v, w, c), vectors, c, low, high, present);
    put(a, p, u, v, w, c);
    return product(a, a, weight);
  });
}

TASK next_vector(Range range, InOutPrivate<84, Real_vectors> vectors, InOut p, InOut u, InOut v, InOut w, ExactIn64<10> low, ExactIn64<10> high, In64 count, In64 scale) {
  const int present = int(*count);
  const real by = real(*scale);
  for_cells(range, CELL(c) {
    Four a = without(four(p, u, v, w, c), vectors, c, low, high, present);
    for (int m = 0; m < 4; ++m) a.of[m] *= by;
    put(a, p, u, v, w, c);
    keep(vectors, c, present, a);
  });
}

TASK combined(Range range, InPrivate<84, Real_vectors> vectors, Out p, Out u, Out v, Out w, In64Of<20> share, In64 count) {
  const int present = int(*count);
  for_cells(range, CELL(c) {
    Four a{};
    for (int n = 0; n < present; ++n) {
      const real f = real(share[n]);
      const Four v = vector(vectors, c, n);
      for (int m = 0; m < 4; ++m) a.of[m] += f * v.of[m];
    }
    put(a, p, u, v, w, c);
  });
}
