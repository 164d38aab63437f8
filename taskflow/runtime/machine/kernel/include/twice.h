/// # Two sweeps in one pass: `#include "twice.h"`
/// twice(range, amid, p, other, out, sweep): two sweeps over seven points in a row
/// SWEEP(q, c, d): a sweep: q has the cell and its six neighbours, d the other field
/// Amid: the cells that need not ask whether they are at walls
/// apart(range, lo, hi): whether a tile lies outside a box
// Two sweeps over seven points in one pass over memory.
//
//   TASK jacobi_twice(Range range, In p, In rhs, Out p_new, Grid grid) {
//     twice(range, amid(grid), p, rhs, p_new, SWEEP(q, c, d) { return ... q.here ... q.low[0] ... q.high[2] ... d ...; });
//   }
//
// makes of p what two sweeps in a row would, to the bit: a sweep says what becomes of a cell from its value and those of
// its six neighbours, q, and from what another field holds there, d. A task that does so reads p two steps around a cell
// and the other field one step around it. What is read there may be several fields: anything that has [], with an offset, and
// +, as pointers do.
//
// On a GPU each thread block marches along z, through as many planes as suit the launch. Its threads, BX x BY with UY rows
// each, do the first sweep in a tile; of that, planes of shared memory keep what the second one needs, which is done one
// cell less on every side and a plane behind. The text says all three, and `#define OVERLAP 1`: by how much tiles reach into
// each other. A sweep may use the indices of its cell, not the cell's offset.

#include "star.h"

#if !defined(OVERLAP) || OVERLAP != 1
#error "a text with twice() begins with #define OVERLAP 1: its thread blocks overlap by a cell on every side"
#endif

#ifdef GPU
#define SWEEP(q, c, d) [=](const Star& q, auto c, auto d)
#else
#define SWEEP(q, c, d) [=](const Star& q, auto c, auto d) __attribute__((always_inline))
#endif

// Cells of which a sweep need not ask where they are across x and y, whether beside a wall, say: along each those from `low`
// to `high`, both included; by default none. Where all of a tile are such cells, a GPU calls sweeps with a cell that says so
// when the text is compiled: `if constexpr (c.amid)`.
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
#define REPEATED(value) (value)  // what another cell computes, too: not counted where operations are
#endif

FN bool apart(const Range& r, const int (&lo)[3], const int (&hi)[3]) {
  bool found = false;
  for (int n = 0; n < 3; ++n) found |= r.lo[n] - 1 >= hi[n] || r.hi[n] < lo[n];
  return found;
}

// out = second(first(p)), one cell after the other: here it is the slabs of the runtime that save memory traffic.
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
