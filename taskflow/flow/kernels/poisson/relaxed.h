// Jacobi's iteration, seen from a cell.
#include "laplacian.h"

// (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: what solves the cell's own equation
FN real relaxed(const Star& p, Cell c, real rhs, const Grid& grid) {
  return (around(p, c, grid) - rhs) * grid.relaxation;
}

// (p + relaxed p) / 2
FN real half_relaxed(const Star& p, Cell c, real rhs, const Grid& grid) {
  return real(0.5) * (p.here + relaxed(p, c, rhs, grid));
}
