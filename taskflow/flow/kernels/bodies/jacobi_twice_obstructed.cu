// Two sweeps of Jacobi's iteration beside bodies in one pass over memory.
#define UY 2
#define BX 64
#define BY 8
#define OVERLAP 1
#define RESIDENT (sizeof(real) == 4 ? 2 : 1)
#include "cell.h"
#include "twice.h"
#include "../poisson/relaxed.h"
#include "beside.h"

// What a sweep reads in the cell alone
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

// A sweep on open faces. Most cells have no other: one question in place of six.
#define OPEN_SWEEP(relaxed) SWEEP(q, c, d) { return relaxed(d.solid ? beside(q, d.solid) : q, c, d.rhs, grid); }
#define FREE_SWEEP(relaxed) SWEEP(q, c, d) { return relaxed(q, c, d, grid); }

// p_new = what jacobi_obstructed makes of what it makes of p. Tiles apart from bodies read no flags.
TASK jacobi_twice_obstructed(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid, Box near) {
  if (apart(range, near.lo, near.hi)) {
    twice(range, p, rhs, p_new, FREE_SWEEP(relaxed));
  } else {
    twice(range, p, Sources{rhs, solid}, p_new, OPEN_SWEEP(relaxed));
  }
}

// p_new = what jacobi_half_obstructed makes of what jacobi_obstructed makes of p
TASK jacobi_twice_half_obstructed(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid, Box near) {
  if (apart(range, near.lo, near.hi)) {
    twice(range, p, rhs, p_new, FREE_SWEEP(relaxed), FREE_SWEEP(half_relaxed));
  } else {
    twice(range, p, Sources{rhs, solid}, p_new, OPEN_SWEEP(relaxed), OPEN_SWEEP(half_relaxed));
  }
}
