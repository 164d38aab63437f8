// Jacobi's iteration for the pressure.
#define UZ 8
#define RESIDENT (sizeof(real) == 4 ? 3 : 2)
#include "cell.h"
#include "relaxed.h"

// p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: a sweep towards Laplacian(p) = rhs
TASK jacobi(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = relaxed(star(p, c, X, Y, Z), c, rhs[c], grid); }, p + Z, rhs, p_new);
}

// p_new = (p + what jacobi makes of it) / 2: the sweep that damps what jacobi only turns over
TASK jacobi_half(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = half_relaxed(star(p, c, X, Y, Z), c, rhs[c], grid); }, p + Z, rhs, p_new);
}
