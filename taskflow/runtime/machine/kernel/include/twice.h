/// # Two sweeps in one pass: `#include "twice.h"`
/// twice(range, amid, p, other, out, sweep): two sweeps over seven points in a row
/// SWEEP(q, c, d): a sweep: q has the cell and its six neighbours, d the other field
/// Amid: the cells that need no checks for walls
/// apart(range, lo, hi): true if a tile lies outside a box
// Two sweeps over seven points in one pass over memory.
//
//   TASK jacobi_twice(Range range, In p, In rhs, Out p_new, Grid grid) {
//     twice(range, amid(grid), p, rhs, p_new, SWEEP(q, c, d) { return ... q.here ... q.low[0] ... q.high[2] ... d ...; });
//   }
//
// sets p_new to the result of two consecutive sweeps over p, bitwise: a sweep computes a cell from its value and those of its six
// neighbours, q, and from the value of another field there, d. Such a task reads p within two steps of a cell and the other
// field within one. These may be several fields: any type with [] by an offset, and
// +, as pointers have.
//
// On a GPU each thread block marches along z, through as many planes as suit the launch. Its threads, BX x BY with UY rows
// each, do the first sweep in a tile. Planes of shared memory keep its results for the second sweep, which is one cell smaller on
// every side and one plane behind. The text defines all three, and `#define OVERLAP 1`: the overlap of tiles. A sweep may use the
// indices of its cell, but not its offset.

#include "star.h"

#if !defined(OVERLAP) || OVERLAP != 1
#error "a text with twice() begins with #define OVERLAP 1: its thread blocks overlap by a cell on every side"
#endif

#ifdef GPU
#define SWEEP(q, c, d) [=](const Star& q, auto c, auto d)
#else
#define SWEEP(q, c, d) [=](const Star& q, auto c, auto d) __attribute__((always_inline))
#endif

// Cells for which a sweep needs no checks across x and y, such as for walls: along each axis from `low` to `high`, inclusive; by
// default none. If a tile has no other cells, a GPU calls sweeps with a cell that is marked at compile time:
// `if constexpr (c.amid)`.
struct Amid {
  int low[2] = {1, 1}, high[2] = {0, 0};
};
struct CellAmid : Cell {
  static constexpr bool amid = true;
};

#ifdef GPU
#include "twice_cuda.h"
#else
#ifndef REPEATED
#define REPEATED(value) (value)  // computed by another cell too: not counted as operations
#endif

FN bool apart(const Range& r, const int (&lo)[3], const int (&hi)[3]) {
  bool found = false;
  for (int n = 0; n < 3; ++n) found |= r.lo[n] - 1 >= hi[n] || r.hi[n] < lo[n];
  return found;
}

// out = second(first(p)), sequentially: here the slabs of the runtime save memory traffic.
template <class Other, class First, class Second>
FN void twice(const Range& r, const Amid&, In p, Other d, Out out, First first, Second second) {
  STRIDES(r)
  const auto swept = [=](int i, int j, int k) __attribute__((always_inline)) {
    const Cell n{i, j, k, i + j * Y + k * Z};
    return first(star(p, n, X, Y, Z), n, d[n]);
  };
  for_cells(r, CELL(c) {
    const Star q{swept(c.i, c.j, c.k),
                 {REPEATED(swept(c.i - 1, c.j, c.k)), REPEATED(swept(c.i, c.j - 1, c.k)), REPEATED(swept(c.i, c.j, c.k - 1))},
                 {REPEATED(swept(c.i + 1, c.j, c.k)), REPEATED(swept(c.i, c.j + 1, c.k)), REPEATED(swept(c.i, c.j, c.k + 1))}};
    out[c] = second(q, c, d[c]);
  });
}
#endif

template <class Other, class Sweep>
FN void twice(const Range& r, const Amid& amid, In p, Other d, Out out, Sweep sweep) {
  twice(r, amid, p, d, out, sweep, sweep);
}

template <class Other, class... Sweeps>
FN void twice(const Range& r, In p, Other d, Out out, Sweeps... sweeps) {
  twice(r, Amid{}, p, d, out, sweeps...);
}
