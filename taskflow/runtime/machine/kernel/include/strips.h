/// # Strips of a row: `#include "strips.h"`
/// for_strips(range, f): calls f for every strip of cells along x
/// side_by_side(cells, f): calls f for the cells of a strip, as one vector loop
/// reduce_strips(range, partial, op, f): folds values that f finds for all cells of a strip
/// CELLS(c, cells): the function of a strip: its first cell and the number of its cells
/// BESIDE(l): the function of cell l of a strip
/// STRIP: the largest number of cells in a strip
// Strips: so many cells of a row, side by side. What is the same in all of them, such as which fields a loop goes through, is found once
// for a strip, and each is a vector loop within, where a loop over the fields of a cell would be none. On a GPU a strip is a cell.
//
//   for_strips(range, CELLS(c, cells) { for (int n = 0; n < count; ++n) side_by_side(cells, BESIDE(l) { q(beside(c, l), n) = 0; }); });
//
// `reduce_strips(range, most, MAX, CELLS(c, cells, double* values) { ... })` folds the values that it finds for all cells of a strip.
#include "cell.h"

#ifdef GPU
#define CELLS(c, ...) [=](const Cell& c, int __VA_ARGS__)
#define BESIDE(l) [&](int l)

constexpr int STRIP = 1;
template <class F>
FN void for_strips(const Range& r, F f) {
  for_cells(r, [=](Cell c) { f(c, STRIP); });
}
template <class F>
FN void side_by_side(int, F f) {
  f(0);
}
template <class Op, class F>
FN void reduce_strips(const Range& r, Partial partial, Op op, F f) {
  reduce_cells(r, partial, op, [=](Cell c) {
    double value[STRIP];
    f(c, STRIP, value);
    return value[0];
  });
}
#else
#define CELLS(c, ...) [=](const Cell& c, int __VA_ARGS__) __attribute__((always_inline))
#define BESIDE(l) [&](int l) __attribute__((always_inline))

constexpr int STRIP = 64;  // cells that are done side by side, some numbers of which the first cache holds
template <class F>
FN void for_strips(const Range& r, F f) {
  const auto by_row = [=](int from, int to, int j, int k, Index row) __attribute__((always_inline)) {
    for (int i = from; i < to; i += STRIP) f(Cell{i, j, k, row + i}, to - i < STRIP ? to - i : STRIP);
  };
  for_cells(r, RowFunction<decltype(by_row)>{by_row});
}
template <class F>
FN void side_by_side(int cells, F f) {
#pragma omp simd
  for (int l = 0; l < cells; ++l) f(l);
}

template <class Op, class F>
FN void reduce_strips(const Range& r, Partial partial, Op, F f) {
  fold_rows<Op, 1>(r, &partial, [=](double (&lanes)[1][LANES], Cell first, int cells) __attribute__((always_inline)) {
    for (int i = 0; i < cells; i += STRIP) {
      const int count = cells - i < STRIP ? cells - i : STRIP;
      double values[STRIP];
      f(beside(first, i), count, values);
      by_lanes({}, count, [&](Cell c, int l) __attribute__((always_inline)) { lanes[0][l] = Op::fold(lanes[0][l], values[c.i]); });
    }
  });
}
#endif
