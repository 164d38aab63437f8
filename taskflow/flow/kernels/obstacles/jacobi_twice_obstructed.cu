// Two sweeps of Jacobi's iteration beside bodies in one pass over memory.
#define UZ 32
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

// p_new = what jacobi_obstructed makes of what it makes of p
TASK jacobi_twice_obstructed(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid, Box near) {
  if (apart(range, near.lo, near.hi)) {
    twice(range, p, rhs, p_new, SWEEP(q, c, d) { return relaxed(q, c, d, grid); });
  } else {
    twice(range, p, Sources{rhs, solid}, p_new, SWEEP(q, c, d) { return relaxed((d.solid ? beside(q, d.solid) : q), c, d.rhs, grid); });
  }
}

// p_new = what jacobi_half_obstructed makes of what jacobi_obstructed makes of p
TASK jacobi_twice_half_obstructed(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid, Box near) {
  if (apart(range, near.lo, near.hi)) {
    twice(range, p, rhs, p_new, SWEEP(q, c, d) { return relaxed(q, c, d, grid); },
          SWEEP(q, c, d) { return half_relaxed(q, c, d, grid); });
  } else {
    twice(range, p, Sources{rhs, solid}, p_new, SWEEP(q, c, d) { return relaxed((d.solid ? beside(q, d.solid) : q), c, d.rhs, grid); },
          SWEEP(q, c, d) { return half_relaxed((d.solid ? beside(q, d.solid) : q), c, d.rhs, grid); });
  }
}
