// How far a pressure is from the solution of Laplacian(p) = rhs.
#define UZ 32
#define BY 2
#include "cell.h"
#include "laplacian.h"

// residual = sum of (rhs - Laplacian(p))^2
TASK residual_square(Range range, In p, In rhs, Partial residual, Grid grid) {
  STRIDES(range)
  const real diagonal = 1 / grid.relaxation;
  reduce_cells(range, residual, SUM, CELL(c) {
    const Star q = star(p, c, X, Y, Z);
    const double r = rhs[c] - (around(q, c, grid) - diagonal * q.here);
    return r * r;
  });
}

// norm = sum of rhs^2
TASK rhs_square(Range range, In rhs, Partial norm) {
  reduce_cells(range, norm, SUM, CELL(c) {
    const double r = rhs[c];
    return r * r;
  });
}
