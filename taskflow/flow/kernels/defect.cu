// What an approximate solution of Laplacian(p) = rhs leaves.
#define UZ 8
#include "cell.h"
#include "mesh.h"

// r = rhs - Laplacian(p); residual = sum of r^2, norm = sum of rhs^2
TASK begin_residual(Range range, Foreign p, Foreign rhs, Out r, Partial residual, Partial norm, Mesh mesh) {
  sum_cells(range, {residual, norm}, CELL(c) {
    const real right = at(rhs, c.i, c.j, c.k), left = right - laplacian(p, c, mesh);
    r[c] = left;
    return Sums<2>{{double(left) * left, double(right) * right}};
  });
}

// r = rhs - Laplacian(p); residual = sum of r^2
TASK residual_of(Range range, Foreign p, Foreign rhs, Out r, Partial residual, Mesh mesh) {
  reduce_cells(range, residual, SUM, CELL(c) {
    const real left = at(rhs, c.i, c.j, c.k) - laplacian(p, c, mesh);
    r[c] = left;
    return double(left) * left;
  });
}
