// Two sweeps of Jacobi's iteration in one pass over memory.
#define UY 2
#define BX 64
#define BY 8
#define OVERLAP 1
#define RESIDENT (sizeof(real) == 4 ? 2 : 1)
#include "cell.h"
#include "twice.h"
#include "laplacian.h"

// Cells that are not adjacent to a wall across x or y
FN Amid amid(const Grid& grid) {
  Amid found;
  for (int n = 0; n < 2; ++n) {
    found.low[n] = grid.first[n] + 1, found.high[n] = grid.last[n] <= grid.first[n] ? 1 << 30 : grid.last[n] - 1;
  }
  return found;
}

// Data that a sweep reads in the cell itself, near bodies
struct Source {
  real rhs;
  int solid;
};

struct Sources {
  In rhs;
  InByte solid;

  template <class Offset>
  INLINE Source operator[](Offset n) const { return {rhs[n], solid[n]}; }
  INLINE Sources operator+(Index n) const { return {rhs + n, solid + n}; }
};

// A sweep without bodies, and one near them. Most cells have open faces only: one test instead of six.
#define FREE_SWEEP(relaxed) SWEEP(q, c, d) { return relaxed(q, c, d, grid); }
#define OPEN_SWEEP(relaxed) SWEEP(q, c, d) { return relaxed(d.solid ? beside(q, d.solid) : q, c, d.rhs, grid); }

FN void two_sweeps(const Range& range, In p, In rhs, None, Out p_new, const Grid& grid, None) {
  twice(range, amid(grid), p, rhs, p_new, FREE_SWEEP(relaxed));
}

FN void two_sweeps_last_half(const Range& range, In p, In rhs, None, Out p_new, const Grid& grid, None) {
  twice(range, amid(grid), p, rhs, p_new, FREE_SWEEP(relaxed), FREE_SWEEP(half_relaxed));
}

// Tiles apart from bodies read no flags.
FN void two_sweeps(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid, Box near) {
  if (apart(range, near.lo, near.hi)) {
    twice(range, p, rhs, p_new, FREE_SWEEP(relaxed));
  } else {
    twice(range, p, Sources{rhs, solid}, p_new, OPEN_SWEEP(relaxed));
  }
}

FN void two_sweeps_last_half(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid, Box near) {
  if (apart(range, near.lo, near.hi)) {
    twice(range, p, rhs, p_new, FREE_SWEEP(relaxed), FREE_SWEEP(half_relaxed));
  } else {
    twice(range, p, Sources{rhs, solid}, p_new, OPEN_SWEEP(relaxed), OPEN_SWEEP(half_relaxed));
  }
}

// p_new = two jacobi sweeps of p
TASK jacobi_twice(Range range, In p, In rhs OPTIONAL(solid), Out p_new, Grid grid OPTIONAL(near)) {
  two_sweeps(range, p, rhs, solid, p_new, grid, near);
}

// p_new = a jacobi sweep of p, then jacobi_half
TASK jacobi_twice_half(Range range, In p, In rhs OPTIONAL(solid), Out p_new, Grid grid OPTIONAL(near)) {
  two_sweeps_last_half(range, p, rhs, solid, p_new, grid, near);
}
