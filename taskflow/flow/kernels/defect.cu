// What an approximate solution of Laplacian(p) = rhs leaves, and its correction.
#define UZ 4
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

// p = p + z
template <class Number>
FN void corrected(const Range& range, InOut p, ForeignOf<Number> z) {
  for_cells(range, CELL(c) { p[c] += at(z, c.i, c.j, c.k); });
}

TASK correct_by(Range range, InOut p, Foreign z) { corrected(range, p, z); }

TASK correct_by_single(Range range, InOut p, ForeignSingle z) { corrected(range, p, z); }
