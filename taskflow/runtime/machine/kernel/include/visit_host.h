// Visits of cells on a CPU: OpenMP threads share the rows, each a contiguous part in memory order; a row is one
// vector loop.
#ifdef _OPENMP
#include <omp.h>
#endif

#define TASK void  // linked as its prototype says: unused tasks of a text are dropped

#ifndef PLANES
#define PLANES 2
#endif
#ifndef TOUCHED
#define TOUCHED 2  // values of a cell that are read or written
#endif

constexpr Index LEAST_SHARED = 65536;           // fewer numbers are not worth waking other threads: per cell 8 or more
constexpr Index WIDE = 1024;                    // bytes of a row above which adjacent rows do not fit into the first-level cache
constexpr int LINE = 64 / sizeof(real);         // values in a cache line
constexpr int CHUNK = 4 * LINE, AHEAD = 24 * LINE;  // values per prefetch, and their distance ahead
constexpr int STRETCH = 32, FEW = 8;  // cells of a row that are tested together for rare ones, and the most that count as few
constexpr int LANES = 8;    // lanes of the sums of a row, whatever the vector width of the machine
constexpr int QUAD = 4;     // cells that a short vector has
constexpr int BUNDLE = 16;  // rows whose values are folded into one part

FN bool worth_sharing(Index cells, int threads) { return threads > 1 && cells * (TOUCHED > 8 ? TOUCHED : 8) >= LEAST_SHARED; }

#ifdef LISTED
#include "pieces_host.h"
#endif

FN Index size(const Range& r, int axis) { return r.hi[axis] > r.lo[axis] ? r.hi[axis] - r.lo[axis] : 0; }

// f(first, last, backward) on every thread, for its share of `count`. Every other call goes backward: the last data of the previous
// launch are still in the cache, and are used first.
template <class F>
FN void share(const Range& r, Index count, F f) {
  static thread_local bool turn = false;
  const bool backward = turn = !turn;
#ifdef LISTED
  if (doing == CELLS) f(count * sharer / sharers, count * (sharer + 1) / sharers, backward);
  if (doing != ALL) return;
#endif
#ifdef _OPENMP
  const bool worthwhile = worth_sharing(size(r, 0) * size(r, 1) * size(r, 2), r.threads);
#pragma omp parallel num_threads(r.threads) if (worthwhile)
  {
    const Index n = omp_get_num_threads(), t = omp_get_thread_num();
    const F mine = f;  // keeps the closure's values in registers: no store can alias it
    mine(count * t / n, count * (t + 1) / n, backward);
  }
#else
  f(Index(0), count, backward);
#endif
}

FN void fetch_ahead(const real* q) {
  for (Index n = 0; n < CHUNK; n += LINE) __builtin_prefetch(q + n + AHEAD);
}
FN void fetch_ahead(None) {}

// f(cell) for the cells [from, to) of a row, as one vector loop.
template <class F>
FN void for_row(int from, int to, int j, int k, Index row, F f) {
#pragma omp simd
  for (int i = from; i < to; ++i) f(Cell{i, j, k, row + i});
}

// Does a whole row, by its own loops, instead of a cell
template <class F>
struct RowFunction {
  F by_row;
};
template <class F>
FN void for_row(int from, int to, int j, int k, Index row, RowFunction<F> f) {
  f.by_row(from, to, j, k, row);
}

// f(cell) for every cell of the range, in any order. `streams` are pointers, at offset 0, to memory that no previous cell has loaded into
// the cache: a hint for kernels with more rows in flight than the processor's prefetchers follow.
template <class F, class... Streams>
FN void for_cells(const Range& r, F f, Streams... streams) {
  const int from = r.lo[0], to = r.hi[0];
  const bool wide = (to - from) * Index(sizeof(real)) > WIDE;
  const int planes = wide ? 1 : PLANES;
  const Index nj = size(r, 1), layers = (size(r, 2) + planes - 1) / planes;
  share(r, layers * nj, [=](Index first, Index last, bool backward) {
    if (first >= last || from >= to) return;
    const Index low = first / nj, high = (last - 1) / nj;
    for (Index n = low; n <= high; ++n) {
      const Index layer = backward && !wide ? low + high - n : n;
      const Index begin = first > layer * nj ? first - layer * nj : 0, end = last < (layer + 1) * nj ? last - layer * nj : nj;
      const int bottom = r.lo[2] + int(layer) * planes, top = bottom + planes < r.hi[2] ? bottom + planes : r.hi[2];
      for (int j = r.lo[1] + int(begin); j < r.lo[1] + int(end); ++j) {
        for (int k = bottom; k < top; ++k) {
          const Index row = j * r.y + k * r.z;
          if (sizeof...(streams) && wide) {
            for (int start = from; start < to; start += CHUNK) {
              (fetch_ahead(streams + row + start), ...);
              for_row(start, start + CHUNK < to ? start + CHUNK : to, j, k, row, f);
            }
          } else {
            for_row(from, to, j, k, row, f);
          }
        }
      }
    }
  });
}

// Here all cells are treated equally.
template <class F, class... Streams>
FN void for_cells(const Range& r, const Interior&, F f, Streams...) {
  for_cells(r, f);
}
template <class F, class... Streams>
FN void for_cells(const Range& r, const InteriorAmid&, F f, Streams...) {
  for_cells(r, f);
}

template <class F, class... Streams>
FN void for_columns(const Range& r, const InteriorAmid&, F f, Streams...) {
  for_cells(r, f);
}

// store(cell, load(cell)), where the second reads what the first changes, in that cell only.
template <class Load, class Store, class... Streams>
FN void change_cells(const Range& r, const Interior&, Load load, Store store, Streams...) {
  for_cells(r, [=](Cell c) __attribute__((always_inline)) { store(c, load(c)); });
}

// store(cell, any(cell)), where usual(cell) is a shorter equivalent wherever rare(cell) is false, as nearly everywhere. This is tested
// for a stretch of a row at a time, as a branch per cell would prevent vector loops. If few cells are rare, any() is done in those
// only. Cells are inner, and amid if AMID.
template <bool AMID, class Usual, class Rare, class Any, class Store>
FN void most_of_stretch(int from, int to, int j, int k, Index row, Usual usual, Rare rare, Any any, Store store) {
  const auto inner = [=](int i) __attribute__((always_inline)) { return InnerOf<AMID>{{i, j, k, row + i}, 0, k >> 1, k & 1}; };
  unsigned char flags[STRETCH];
  int rares = 0;
#pragma omp simd reduction(+ : rares)
  for (int i = from; i < to; ++i) {
    const bool unusual = rare(inner(i));
    flags[i - from] = unusual, rares += unusual;
  }
  if (rares > FEW) return for_row(from, to, j, k, row, [=](Cell c) __attribute__((always_inline)) { store(c, any(c)); });
  real values[FEW];
  int places[FEW], known = 0;
  for (int i = from; rares > known; ++i)
    if (flags[i - from]) values[known] = any(Cell{i, j, k, row + i}), places[known++] = i;
#pragma omp simd
  for (int i = from; i < to; ++i) store(inner(i), usual(inner(i)));
  for (int n = 0; n < rares; ++n) store(inner(places[n]), values[n]);
}

template <bool AMID, class Usual, class Rare, class Any, class Store>
FN void most_cells(const Range& r, const Interior& in, int left, int right, Usual usual, Rare rare, Any any, Store store) {
  const auto all = [=](Cell c) __attribute__((always_inline)) { store(c, any(c)); };
  const int low = r.lo[0] > left ? r.lo[0] : left, high = r.hi[0] <= right ? r.hi[0] : right + 1;
  const auto by_row = [=](int from, int to, int j, int k, Index row) __attribute__((always_inline)) {
    const bool inner = j >= in.low[0] && j <= in.high[0] && k >= in.low[1] && k <= in.high[1] && low < high;
    for_row(from, inner ? low : to, j, k, row, all);
    if (!inner) return;
    for (int start = low; start < high; start += STRETCH)
      most_of_stretch<AMID>(start, start + STRETCH < high ? start + STRETCH : high, j, k, row, usual, rare, any, store);
    for_row(high, to, j, k, row, all);
  };
  for_cells(r, RowFunction<decltype(by_row)>{by_row});
}
template <class Usual, class Rare, class Any, class Store, class... Streams>
FN void most_cells(const Range& r, const Interior& in, Usual usual, Rare rare, Any any, Store store, Streams...) {
  most_cells<false>(r, in, r.lo[0], r.hi[0] - 1, usual, rare, any, store);
}
template <class Usual, class Rare, class Any, class Store, class... Streams>
FN void most_cells(const Range& r, const InteriorAmid& in, Usual usual, Rare rare, Any any, Store store, Streams...) {
  most_cells<true>(r, in, in.left, in.right, usual, rare, any, store);
}

// f(cell) for the cells of a row, whose number is a multiple of QUAD
template <class F>
FN void for_quads(int from, int to, int j, int k, Index row, F f) {
  const int count = (to - from) & -QUAD, most = count & -LINE;  // as the compiler sees, there is no remainder
#pragma omp simd
  for (int n = 0; n < most; ++n) f(Cell{from + n, j, k, row + from + n});
#pragma omp simd simdlen(QUAD)
  for (int n = most; n < count; ++n) f(Cell{from + n, j, k, row + from + n});
}

// f(cell) for every cell. Those that are `amid` have loops of their own, without what only cells near faces need.
template <class F, class... Streams>
FN void split_rows(const Range& r, const InteriorAmid& in, F f, Streams...) {
  const auto amid = [=](Cell c) __attribute__((always_inline)) { f(InnerOf<true>{c, 0, c.k >> 1, c.k & 1}); };
  const auto by_row = [=](int from, int to, int j, int k, Index row) __attribute__((always_inline)) {
    const bool inner = j >= in.low[0] && j <= in.high[0] && k >= in.low[1] && k <= in.high[1];
    const int left = in.left > from ? in.left : from, right = in.right < to ? in.right + 1 : to;
    const int many = inner && left < right ? (right - left) & -QUAD : 0, low = many ? left : to, high = low + many;
    for (int after = 0; after < 2; ++after) {
      for_row(after ? high : from, after ? to : low, j, k, row, f);
      if (!after) for_quads(low, high, j, k, row, amid);
    }
  };
  for_cells(r, RowFunction<decltype(by_row)>{by_row});
}

// Folds one cell's values into a lane. Unrolled, and by value: otherwise GCC vectorizes over values, and not over cells.
template <class Op, int N, int n = 0>
FN void fold_into(double (&lanes)[N][LANES], int l, Sums<N> values) {
  lanes[n][l] = Op::fold(lanes[n][l], values.of[n]);
  if constexpr (n + 1 < N) fold_into<Op, N, n + 1>(lanes, l, values);
}

// f(l) for the cells of a row with a lane each, as one vector loop if all lanes are used
template <class F>
FN void for_lanes(int cells, F f) {
  if (cells == LANES) {
#pragma omp simd
    for (int l = 0; l < LANES; ++l) f(l);
  } else {
    for (int l = 0; l < cells; ++l) f(l);
  }
}

// f(cell, lane) for `cells` cells of a row, cyclically over the lanes
template <class F>
FN void by_lanes(Cell first, int cells, F f) {
  const auto turn = [&](int i, int count) __attribute__((always_inline)) {
    for_lanes(count, [&](int l) __attribute__((always_inline)) { f(beside(first, i + l), l); });
  };
  int i = 0;
  for (; i + LANES <= cells; i += LANES) turn(i, LANES);
  if (i < cells) turn(i, cells - i);
}

// *result = the fold over the range: lanes of a row, rows of a bundle, bundles, always in this order. fold(lanes, first, cells) does
// the cells of a row, from the first on, for N values of each.
template <class Op, int N, class Fold>
FN void fold_rows(const Range& r, const Partial* partials, Fold fold) {
  const Index nj = size(r, 1), rows = r.hi[0] > r.lo[0] ? nj * size(r, 2) : 0, bundles = (rows + BUNDLE - 1) / BUNDLE;
  const int from = r.lo[0], to = r.hi[0];
  share(r, bundles, [=](Index first, Index last, bool backward) {
    for (Index m = first; m < last; ++m) {
      const Index bundle = backward ? first + last - 1 - m : m;
      const Index end = (bundle + 1) * BUNDLE < rows ? (bundle + 1) * BUNDLE : rows;
      double lanes[N][LANES];
      for (int n = 0; n < N; ++n)
        for (int l = 0; l < LANES; ++l) lanes[n][l] = Op::identity();
      for (Index row = bundle * BUNDLE; row < end; ++row) {
        const int j = r.lo[1] + int(row % nj), k = r.lo[2] + int(row / nj);
        fold(lanes, Cell{from, j, k, j * r.y + k * r.z + from}, to - from);
      }
      for (int n = 0; n < N; ++n) {
        for (int half = LANES / 2; half; half /= 2)
          for (int l = 0; l < half; ++l) lanes[n][l] = Op::fold(lanes[n][l], lanes[n][l + half]);
        partials[n].parts[bundle] = lanes[n][0];
      }
    }
  });
#ifdef LISTED
  if (doing == CELLS) return;
#endif
  for (int n = 0; n < N; ++n) {
    double result = partials[n].before ? *partials[n].before : Op::identity();
    for (Index b = 0; b < bundles; ++b) result = Op::fold(result, partials[n].parts[b]);
    *partials[n].result = result;
  }
}

// *result = f(cell) folded over the range. All operators work on N values: f(cell) is a Sums<N>.
template <class Op, int N, class F>
FN void fold_cells(const Range& r, const Partial* partials, F f) {
  fold_rows<Op, N>(r, partials, [=](double (&lanes)[N][LANES], Cell first, int cells) __attribute__((always_inline)) {
    by_lanes(first, cells, [&](Cell c, int l) __attribute__((always_inline)) { fold_into<Op>(lanes, l, f(c)); });
  });
}

template <class Op, class F>
FN void reduce_cells(const Range& r, Partial partial, Op, F f) {
  fold_cells<Op, 1>(r, &partial, [=](Cell c) __attribute__((always_inline)) { return Sums<1>{{f(c)}}; });
}

// Several sums: f(cell) is a Sums<N>.
template <int N, class F>
FN void sum_cells(const Range& r, const Partial (&partials)[N], F f) {
  fold_cells<Sum, N>(r, partials, f);
}

template <class Op, class F, class... Streams>
FN void reduce_cells(const Range& r, const Interior&, Partial partial, Op op, F f, Streams...) {
  reduce_cells(r, partial, op, f);
}

template <int N, class F, class... Streams>
FN void sum_cells(const Range& r, const Interior&, const Partial (&partials)[N], F f, Streams...) {
  sum_cells(r, partials, f);
}

// Several maxima, where cells share values with those below and above: f(cell, below, here, above), each of them the result of
// `carried` in a cell. f returns a Maxima<N>.
template <int N, class Carried, class F>
FN void max_cells(const Range& r, const Partial (&partials)[N], Carried carried, F f) {
  fold_cells<Max, N>(r, partials, [=](Cell c) __attribute__((always_inline)) {
    const Cell low{c.i, c.j, c.k - 1, c.offset - r.z}, high{c.i, c.j, c.k + 1, c.offset + r.z};
    const Maxima<N> maxima = f(c, carried(low), carried(c), carried(high));
    Sums<N> values;
    for (int n = 0; n < N; ++n) values.of[n] = maxima.of[n];
    return values;
  });
}
