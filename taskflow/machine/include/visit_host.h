// Who visits the cells on a CPU: OpenMP threads share the rows, each a contiguous piece in memory order; a row is one
// vector loop.
#ifdef _OPENMP
#include <omp.h>
#endif

#define TASK extern "C" void

constexpr Index SERIAL = 8192;  // cells below which waking other threads costs more than they save
constexpr int LANES = 8;        // sums of a row are kept in so many lanes, whatever the vector width of the machine
constexpr int BUNDLE = 16;      // rows whose values are folded into one part

FN Index rows(const Range& r) {
  const Index nj = r.hi[1] - r.lo[1], nk = r.hi[2] - r.lo[2];
  return nj > 0 && nk > 0 && r.hi[0] > r.lo[0] ? nj * nk : 0;
}

// f(first, last) on every thread, for its share of `count`.
template <class F>
FN void share(const Range& r, Index count, F f) {
#ifdef _OPENMP
  const bool worthwhile = r.threads > 1 && rows(r) * (r.hi[0] - r.lo[0]) >= SERIAL;
#pragma omp parallel num_threads(r.threads) if (worthwhile)
  {
    const Index n = omp_get_num_threads(), t = omp_get_thread_num();
    const F mine = f;  // what the closure holds lives in registers then: no store can alias it
    mine(count * t / n, count * (t + 1) / n);
  }
#else
  f(Index(0), count);
#endif
}

// visit(j, k) for the rows [first, last), counted with j fastest.
template <class F>
FN void for_rows(const Range& r, Index first, Index last, F visit) {
  const Index nj = r.hi[1] - r.lo[1];
  while (first < last) {
    const Index k = first / nj, stop = last < (k + 1) * nj ? last : (k + 1) * nj;
    for (; first < stop; ++first) visit(r.lo[1] + int(first - k * nj), r.lo[2] + int(k));
  }
}

// f(cell) for every cell of the range, in any order.
template <class F>
FN void for_cells(const Range& r, F f) {
  const int from = r.lo[0], to = r.hi[0];
  share(r, rows(r), [=](Index first, Index last) {
    for_rows(r, first, last, [&](int j, int k) {
      const Index row = j * r.y + k * r.z;
#pragma omp simd
      for (int i = from; i < to; ++i) f(Cell{i, j, k, row + i});
    });
  });
}

// *result = f(cell) folded over the range: lanes of a row, rows of a bundle, bundles, always in this order.
template <class Op, class F>
FN void reduce_cells(const Range& r, Partial partial, Op, F f) {
  const Index count = rows(r), bundles = (count + BUNDLE - 1) / BUNDLE;
  const int from = r.lo[0], to = r.hi[0], whole = from + (to - from) / LANES * LANES;
  share(r, bundles, [=](Index first, Index last) {
    for (Index b = first; b < last; ++b) {
      double lanes[LANES];
      for (int l = 0; l < LANES; ++l) lanes[l] = Op::identity();
      const Index end = (b + 1) * BUNDLE;
      for_rows(r, b * BUNDLE, end < count ? end : count, [&](int j, int k) {
        const Index row = j * r.y + k * r.z;
        for (int i = from; i < whole; i += LANES) {
#pragma omp simd
          for (int l = 0; l < LANES; ++l) lanes[l] = Op::fold(lanes[l], f(Cell{i + l, j, k, row + i + l}));
        }
        for (int i = whole; i < to; ++i) lanes[i - whole] = Op::fold(lanes[i - whole], f(Cell{i, j, k, row + i}));
      });
      for (int n = LANES / 2; n; n /= 2)
        for (int l = 0; l < n; ++l) lanes[l] = Op::fold(lanes[l], lanes[l + n]);
      partial.parts[b] = lanes[0];
    }
  });
  double result = Op::identity();
  for (Index b = 0; b < bundles; ++b) result = Op::fold(result, partial.parts[b]);
  *partial.result = result;
}
