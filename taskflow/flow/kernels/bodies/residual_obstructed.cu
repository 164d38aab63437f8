// How far a pressure beside bodies is from the solution of Laplacian(p) = rhs.
#define UZ 32
#define BY 2
#include "cell.h"
#include "../poisson/laplacian.h"
#include "beside.h"

// residual = sum of (rhs - mean - Laplacian(p))^2 over cells that are not solid, each counting as its volume
TASK residual_square_obstructed(Range range, In p, In rhs, InByte solid, Partial residual, In64 mean, Grid grid) {
  STRIDES(range)
  const real off = real(*mean);
  const Laplacian laplacian(grid);
  reduce_cells(range, residual, SUM, CELL(c) {
    const int bits = solid[c];
    const double r = rhs[c] - off - laplacian.at(beside(star(p, c, X, Y, Z), bits), c);
    return volume(grid, c) * (bits & ITSELF ? 0.0 : r * r);
  });
}
