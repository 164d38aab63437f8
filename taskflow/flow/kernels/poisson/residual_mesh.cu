// How far a pressure that is 0 on some faces, or has coefficients on them, is from the solution: what is measured on the grid
// itself.
#define UZ 32
#define BY 2
#include "cell.h"
#include "faces.h"

// residual = sum of (rhs - mean - div(b grad p))^2 over active cells, each counting as its volume
TASK residual_square_mesh(Range range, In p, In rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z), Partial residual, In64 mean,
                          Mesh mesh) {
  STRIDES(range)
  const real off = real(*mean);
  const auto m = faces(range, b_x, b_y, b_z, mesh);
  reduce_cells(range, residual, SUM, CELL(c) {
    const double r = rhs[c] - off - laplacian(p, c, Y, Z, m);
    return volume(m, c) * (active(c, m) ? r * r : 0.0);
  });
}

// cells = how many are active, each counting as its volume
TASK count_active(Range range, In b_x, In b_y, In b_z, Partial cells, Mesh mesh) {
  const Faces m = faces(range, b_x, b_y, b_z, mesh);
  reduce_cells(range, cells, SUM, CELL(c) { return volume(m, c) * (active(c, m) ? 1.0 : 0.0); });
}

// norm = sum of rhs^2, mean = sum of rhs / cells, or 0, over active cells
TASK rhs_sums_active(Range range, In rhs, In b_x, In b_y, In b_z, Partial norm, Partial mean, In64 cells, int centred,
                     Mesh mesh) {
  const Faces m = faces(range, b_x, b_y, b_z, mesh);
  const double share = centred && *cells > 0 ? 1 / *cells : 0.0;
  sum_cells(range, {norm, mean}, CELL(c) {
    const double r = active(c, m) ? rhs[c] : real(0);
    return Sums<2>{{volume(m, c) * (r * r), volume(m, c) * (share * r)}};
  });
}
