// div(b grad p) = rhs on the grid itself: what is measured of it.
#define UZ 32
#define BY 2
#include "cell.h"
#include "faces.h"

// cells = how many have an open face, each counting as its volume
TASK count_sought(Range range, In b_x, In b_y, In b_z, Partial cells, Mesh mesh) {
  const Faces m = faces(range, b_x, b_y, b_z, mesh);
  reduce_cells(range, cells, SUM, CELL(c) { return volume(m, c) * (sought(c, m) ? 1.0 : 0.0); });
}

// norm = sum of rhs^2, mean = sum of rhs / cells, or 0, over the cells with an open face
TASK rhs_sums_variable(Range range, In rhs, In b_x, In b_y, In b_z, Partial norm, Partial mean, In64 cells, int centred,
                       Mesh mesh) {
  const Faces m = faces(range, b_x, b_y, b_z, mesh);
  const double share = centred && *cells > 0 ? 1 / *cells : 0.0;
  sum_cells(range, {norm, mean}, CELL(c) {
    const double r = sought(c, m) ? rhs[c] : real(0);
    return Sums<2>{{volume(m, c) * (r * r), volume(m, c) * (share * r)}};
  });
}

// residual = sum of (rhs - mean - div(b grad p))^2 over the cells with an open face
TASK residual_square_variable(Range range, In p, In rhs, In b_x, In b_y, In b_z, Partial residual, In64 mean,
                              Mesh mesh) {
  STRIDES(range)
  const Faces m = faces(range, b_x, b_y, b_z, mesh);
  const real off = real(*mean);
  reduce_cells(range, residual, SUM, CELL(c) {
    const double r = rhs[c] - off - laplacian(p, c, Y, Z, m);
    return volume(m, c) * (sought(c, m) ? r * r : 0.0);
  });
}
