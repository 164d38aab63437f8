// Jacobi's iteration for the pressure: see laplacian.h.
#define UZ 8
#define RESIDENT (sizeof(real) == 4 ? 3 : 2)
#include "cell.h"
#include "laplacian.h"

// p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: a sweep towards Laplacian(p) = rhs
TASK jacobi(Range range, In p, In rhs OPTIONAL(solid), Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    p_new[c] = relaxed(beside(star(p, c, X, Y, Z), flags_of(solid, c)), c, rhs[c], grid);
  }, p + Z, rhs, p_new);
}

// p_new = (p + its sweep) / 2: damps modes whose sign a plain sweep only changes
TASK jacobi_half(Range range, In p, In rhs OPTIONAL(solid), Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    p_new[c] = half_relaxed(beside(star(p, c, X, Y, Z), flags_of(solid, c)), c, rhs[c], grid);
  }, p + Z, rhs, p_new);
}
