// What an approximate solution of Laplacian(p) = rhs leaves.
#define UZ 32
#define BY 2
#define RESIDENT 4
#include "cell.h"
#include "mesh.h"

// r = rhs - mean - Laplacian(p); residual = sum of r^2
TASK residual_of(Range range, Foreign p, Foreign rhs, Out r, Partial residual, In64 mean, Mesh mesh) {
  const real off = real(*mean);
  reduce_cells(range, interior(mesh), residual, SUM, CELL(c) {
    const real left = at(rhs, c.i, c.j, c.k) - off - laplacian(p, c, mesh);
    r[c] = left;
    return double(left) * left;
  });
}
