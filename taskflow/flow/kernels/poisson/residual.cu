// How far a pressure is from the solution of Laplacian(p) = rhs.
#define UZ 32
#define BY 2
#include "cell.h"
#include "laplacian.h"

// residual = sum of (rhs - mean - Laplacian(p))^2
TASK residual_square(Range range, In p, In rhs, Partial residual, In64 mean, Grid grid) {
  STRIDES(range)
  const real diagonal = 1 / grid.relaxation, off = real(*mean);
  reduce_cells(range, residual, SUM, CELL(c) {
    const Star q = star(p, c, X, Y, Z);
    const double r = rhs[c] - off - (around(q, c, grid) - diagonal * q.here);
    return r * r;
  });
}

// norm = sum of rhs^2, mean = sum of share rhs
TASK rhs_sums(Range range, In rhs, Partial norm, Partial mean, real share) {
  sum_cells(range, {norm, mean}, CELL(c) {
    const double r = rhs[c];
    return Sums<2>{{r * r, share * r}};
  });
}
