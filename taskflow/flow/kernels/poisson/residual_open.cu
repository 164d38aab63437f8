// How far a pressure that is 0 on some faces is from the solution of Laplacian(p) = rhs.
#define UZ 32
#define BY 2
#include "cell.h"
#include "mesh.h"

// residual = sum of (rhs - mean - Laplacian(p))^2, each cell counting as its volume
TASK residual_square_open(Range range, In p, In rhs, Partial residual, In64 mean, Mesh mesh) {
  STRIDES(range)
  const real off = real(*mean);
  reduce_cells(range, residual, SUM, CELL(c) {
    const double r = rhs[c] - off - laplacian(p, c, Y, Z, mesh);
    return volume(mesh, c) * (r * r);
  });
}
