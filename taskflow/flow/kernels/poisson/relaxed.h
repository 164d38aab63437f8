// Jacobi's iteration, seen from a cell.
#include "laplacian.h"

// (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: what solves the cell's own equation
#ifdef STRETCHED
template <class C>
FN real relaxed(const Star& p, C c, real rhs, const Grid& grid) {
  const Pull x = pull(p, 0, c.i, grid), y = pull(p, 1, c.j, grid), z = pull(p, 2, c.k, grid);
  return (x.around + y.around + z.around - rhs) / (x.diagonal + y.diagonal + z.diagonal);
}
#else
template <class C>
FN real relaxed(const Star& p, C c, real rhs, const Grid& grid) {
  return (around(p, c, grid) - rhs) * grid.relaxation;
}
#endif

// (p + relaxed p) / 2
template <class C>
FN real half_relaxed(const Star& p, C c, real rhs, const Grid& grid) {
  return real(0.5) * (p.here + relaxed(p, c, rhs, grid));
}
