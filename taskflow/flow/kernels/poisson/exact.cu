// The last level of multigrid, solved by the inverse of its operator.
#include "cell.h"

// p = the sum over all cells of what the inverse has of each for this one, times rhs there. The sum is the same for
// every cell, so the loads of several of its terms can be on the way at a time.
TASK solve_exactly(Range range, In rhs, Out p, Inverse inverse) {
  STRIDES(range)
  const int nx = inverse.cells[0], ny = inverse.cells[1], count = nx * ny * inverse.cells[2];
  for_cells(range, CELL(c) {
    const real* column = inverse.columns + (c.i + nx * (c.j + ny * c.k));
    real sum = 0;
#pragma unroll 16
    for (int m = 0; m < count; ++m) {
      const int row = m / nx, i = m - row * nx, k = row / ny, j = row - k * ny;
      sum += column[Index(m) * count] * rhs[i + j * Y + k * Z];
    }
    p[c] = sum;
  });
}
