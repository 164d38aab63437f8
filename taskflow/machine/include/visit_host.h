// Who visits the cells on a CPU: OpenMP threads share the rows, each a contiguous piece in memory order; a row is one
// vector loop.
#ifdef _OPENMP
#include <omp.h>
#endif

#define TASK extern "C" void

#ifndef PLANES
#define PLANES 2
#endif

constexpr Index SERIAL = 8192;           // cells below which waking other threads costs more than they save
constexpr Index WIDE = 1024;             // bytes of a row above which the rows around it outgrow the first cache
constexpr int LINE = 64 / sizeof(real);  // values in a cache line
constexpr int CHUNK = 4 * LINE;          // values fetched ahead at once,
constexpr int AHEAD = 24 * LINE;         // and how far ahead
constexpr int LANES = 8;                 // a sum along a row is kept in so many lanes, whatever the machine's vectors
constexpr int BUNDLE = 16;               // rows whose values are folded into one part

FN Index size(const Range& r, int axis) { return r.hi[axis] > r.lo[axis] ? r.hi[axis] - r.lo[axis] : 0; }

// f(first, last, backward) on every thread, for its share of `count`. Every other call goes backward: what the last
// launch touched last is still in the cache, and is touched first.
template <class F>
FN void share(const Range& r, Index count, F f) {
  static thread_local bool turn = false;
  const bool backward = turn = !turn;
#ifdef _OPENMP
  const bool worthwhile = r.threads > 1 && size(r, 0) * size(r, 1) * size(r, 2) >= SERIAL;
#pragma omp parallel num_threads(r.threads) if (worthwhile)
  {
    const Index n = omp_get_num_threads(), t = omp_get_thread_num();
    const F mine = f;  // what the closure holds lives in registers then: no store can alias it
    mine(count * t / n, count * (t + 1) / n, backward);
  }
#else
  f(Index(0), count, backward);
#endif
}

FN void fetch_ahead(const real* q) {
  for (Index n = 0; n < CHUNK; n += LINE) __builtin_prefetch(q + n + AHEAD);
}

// A cell between walls: it looks at its neighbours, and where a wall lies between it sees its own value. Whether one
// lies across its row is decided once per row; that none lies along it the compiler knows of cells inside (`End` is
// false).
template <bool End>
struct WalledCell : Cell {
  Index to_south, to_north, to_bottom, to_top;
  int first, last;
  INLINE real west(In q) const { return choose(End && i == first, q[offset], q[offset - 1]); }
  INLINE real east(In q) const { return choose(End && i == last, q[offset], q[offset + 1]); }
  INLINE real south(In q) const { return q[offset + to_south]; }
  INLINE real north(In q) const { return q[offset + to_north]; }
  INLINE real bottom(In q) const { return q[offset + to_bottom]; }
  INLINE real top(In q) const { return q[offset + to_top]; }
  static INLINE real choose(bool wall, real here, real there) { return wall ? here : there; }
};

// The cells of a row, without and with regard to walls.
struct OpenRow {
  static constexpr bool walled = false;
  int j, k;
  Index row;
  INLINE OpenRow(const Range& r, int j, int k) : j(j), k(k), row(j * r.y + k * r.z) {}
  template <bool End>
  INLINE Cell at(int i) const {
    return {i, j, k, row + i};
  }
};
struct WalledRow {
  static constexpr bool walled = true;
  int j, k;
  Index row, to_south, to_north, to_bottom, to_top;
  int first, last;
  INLINE WalledRow(const Range& r, const Walls& w, int j, int k)
      : j(j), k(k), row(j * r.y + k * r.z),
        to_south(j == w.first[1] ? 0 : -r.y), to_north(j == w.last[1] ? 0 : r.y),
        to_bottom(k == w.first[2] ? 0 : -r.z), to_top(k == w.last[2] ? 0 : r.z),
        first(w.first[0]), last(w.last[0]) {}
  template <bool End>
  INLINE WalledCell<End> at(int i) const {
    return {{i, j, k, row + i}, to_south, to_north, to_bottom, to_top, first, last};
  }
};

FN WalledCell<true> between(const Walls& walls, Cell c, const Range& r) {
  return WalledRow(r, walls, c.j, c.k).at<true>(c.i);
}

// f(cell) for the cells [from, to) of a row, as one vector loop.
template <bool End, class Row, class F>
FN void for_part(int from, int to, Row row, F f) {
#pragma omp simd
  for (int i = from; i < to; ++i) f(row.template at<End>(i));
}

// f(cell) for the cells [from, from + LINE), some of which may lie beside a wall.
template <class Row, class F>
FN void for_line(int from, Row row, F f) {
#pragma omp simd
  for (int n = 0; n < LINE; ++n) f(row.template at<true>(from + n));
}

// f(cell) for the cells [from, to) of a row. Where there are walls, most of the row is computed without looking for
// them.
template <class Row, class F, class... Streams>
FN void for_row(int from, int to, bool wide, Row row, F f, Streams... streams) {
  if (!Row::walled || to - from < 2 * LINE) return for_part<true>(from, to, row, f);
  for_line(from, row, f);
  if (sizeof...(streams) && wide) {
    for (int i = from + LINE; i < to - LINE; i += CHUNK) {
      (fetch_ahead(streams + row.row + i), ...);
      for_part<false>(i, i + CHUNK < to - LINE ? i + CHUNK : to - LINE, row, f);
    }
  } else {
    for_part<false>(from + LINE, to - LINE, row, f);
  }
  for_line(to - LINE, row, f);
}

// f(cell) for every cell of the range, in any order; row_at(j, k) is the row of that index. Rows above each other have
// the same neighbours: while the first cache can hold what they need, PLANES of them are computed before the next ones.
template <class RowAt, class F, class... Streams>
FN void for_rows(const Range& r, RowAt row_at, F f, Streams... streams) {
  const int from = r.lo[0], to = r.hi[0];
  const bool wide = (to - from) * Index(sizeof(real)) > WIDE;
  const int planes = wide ? 1 : PLANES;
  const Index nj = size(r, 1), layers = (size(r, 2) + planes - 1) / planes;
  share(r, layers * nj, [=](Index first, Index last, bool backward) {
    if (first >= last || from >= to) return;
    const Index low = first / nj, high = (last - 1) / nj;
    for (Index n = low; n <= high; ++n) {
      const Index layer = backward && !wide ? low + high - n : n, begin = layer * nj, end = begin + nj;
      const int k0 = r.lo[2] + int(layer) * planes, k1 = k0 + planes < r.hi[2] ? k0 + planes : r.hi[2];
      const int j0 = r.lo[1] + int(first > begin ? first - begin : 0);
      const int j1 = r.lo[1] + int(last < end ? last - begin : nj);
      for (int j = j0; j < j1; ++j)
        for (int k = k0; k < k1; ++k) for_row(from, to, wide, row_at(j, k), f, streams...);
    }
  });
}

// f(cell) for every cell of the range, in any order.
template <class F>
FN void for_cells(const Range& r, F f) {
  for_rows(r, [=](int j, int k) { return OpenRow(r, j, k); }, f);
}

// The same for cells between walls. `streams` are the pointers, at offset 0, along which the kernel meets memory that
// no cell before has brought into the cache: a hint, for wide rows, of which more are in flight than a processor
// follows.
template <class F, class... Streams>
FN void for_cells(const Range& r, const Walls& walls, F f, Streams... streams) {
  for_rows(r, [=](int j, int k) { return WalledRow(r, walls, j, k); }, f, streams...);
}

// *result = f(cell) folded over the range: lanes of a row, rows of a bundle, bundles, always in this order.
template <class Op, class F>
FN void reduce_cells(const Range& r, Partial partial, Op, F f) {
  const Index nj = size(r, 1), rows = r.hi[0] > r.lo[0] ? nj * size(r, 2) : 0, bundles = (rows + BUNDLE - 1) / BUNDLE;
  const int from = r.lo[0], to = r.hi[0], whole = from + (to - from) / LANES * LANES;
  share(r, bundles, [=](Index first, Index last, bool backward) {
    for (Index n = first; n < last; ++n) {
      const Index bundle = backward ? first + last - 1 - n : n;
      const Index end = (bundle + 1) * BUNDLE < rows ? (bundle + 1) * BUNDLE : rows;
      double lanes[LANES];
      for (int l = 0; l < LANES; ++l) lanes[l] = Op::identity();
      for (Index m = bundle * BUNDLE; m < end; ++m) {
        const int j = r.lo[1] + int(m % nj), k = r.lo[2] + int(m / nj);
        const Index row = j * r.y + k * r.z;
        for (int i = from; i < whole; i += LANES) {
#pragma omp simd
          for (int l = 0; l < LANES; ++l) lanes[l] = Op::fold(lanes[l], f(Cell{i + l, j, k, row + i + l}));
        }
        for (int i = whole; i < to; ++i) lanes[i - whole] = Op::fold(lanes[i - whole], f(Cell{i, j, k, row + i}));
      }
      for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; ++l) lanes[l] = Op::fold(lanes[l], lanes[l + half]);
      partial.parts[bundle] = lanes[0];
    }
  });
  double result = Op::identity();
  for (Index b = 0; b < bundles; ++b) result = Op::fold(result, partial.parts[b]);
  *partial.result = result;
}
