// Two sweeps of Jacobi's iteration in one pass over memory.
#define UY 2
#define BX 64
#define BY 8
#define OVERLAP 1
#define RESIDENT (sizeof(real) == 4 ? 2 : 1)
#include "cell.h"
#include "twice.h"
#include "relaxed.h"
#include "amid.h"

// p_new = what jacobi makes of what it makes of p
TASK jacobi_twice(Range range, In p, In rhs, Out p_new, Grid grid) {
  twice(range, amid(grid), p, rhs, p_new, SWEEP(q, c, d) { return relaxed(q, c, d, grid); });
}

// p_new = what jacobi_half makes of what jacobi makes of p
TASK jacobi_twice_half(Range range, In p, In rhs, Out p_new, Grid grid) {
  twice(range, amid(grid), p, rhs, p_new, SWEEP(q, c, d) { return relaxed(q, c, d, grid); },
        SWEEP(q, c, d) { return half_relaxed(q, c, d, grid); });
}
