// How far a pressure is from the solution of Laplacian(p) = rhs, on the grid itself.
#define UZ 32
#define BY 2
#include "cell.h"
#include "laplacian.h"

// r^2, but nothing in a solid cell
FN double counted(None, double r) { return r * r; }
FN double counted(int solid, double r) { return solid & ITSELF ? 0.0 : r * r; }

// residual = sum over fluid cells of (rhs - mean - Laplacian(p))^2, each counting as its volume
TASK residual_square(Range range, In p, In rhs OPTIONAL(solid), Partial residual, In64 mean, Grid grid) {
  STRIDES(range)
  const real off = real(*mean);
  const Laplacian laplacian(grid);
  reduce_cells(range, residual, SUM, CELL(c) {
    const auto flags = flags_of(solid, c);
    const double r = rhs[c] - off - laplacian.at(beside(star(p, c, X, Y, Z), flags), c);
    return volume(grid, c) * counted(flags, r);
  });
}

// norm = sum of rhs^2, mean = sum of share rhs, each cell counting as its volume
TASK rhs_sums(Range range, In rhs, Partial norm, Partial mean, Grid grid, real share) {
  sum_cells(range, {norm, mean}, CELL(c) {
    const double r = rhs[c];
    return Sums<2>{{volume(grid, c) * (r * r), volume(grid, c) * (share * r)}};
  });
}
