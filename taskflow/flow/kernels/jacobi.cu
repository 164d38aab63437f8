// Jacobi's iteration for the pressure.
#define UZ 8
#include "cell.h"
#include "laplacian.h"

// p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: a sweep towards Laplacian(p) = rhs
TASK jacobi(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = (around(p, c, X, Y, Z, grid) - rhs[c]) * grid.relaxation; }, p + Z, rhs, p_new);
}

// p_new = (p + what jacobi makes of it) / 2: the sweep that damps what jacobi only turns over
TASK jacobi_half(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    p_new[c] = real(0.5) * (p[c] + (around(p, c, X, Y, Z, grid) - rhs[c]) * grid.relaxation);
  });
}
