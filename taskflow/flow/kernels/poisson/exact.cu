// The last level of multigrid, solved by the inverse of its operator.
#include "cell.h"
#include "product.h"

// p = the sum over all cells of what the inverse has of each for this one, times rhs there
TASK solve_exactly(Range range, In rhs, Out p, Inverse inverse) {
  const int nx = inverse.cells[0], ny = inverse.cells[1], count = nx * ny * inverse.cells[2];
  multiply(range, inverse.cells, rhs, p, [=](Cell c) { return inverse.rows + count * (c.i + nx * (c.j + ny * c.k)); });
}
