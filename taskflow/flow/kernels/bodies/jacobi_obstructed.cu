// Jacobi's iteration for the pressure beside bodies: faces of solid cells are like walls.
#define UZ 8
#define RESIDENT (sizeof(real) == 4 ? 3 : 2)
#include "cell.h"
#include "../poisson/relaxed.h"
#include "beside.h"

// What jacobi does, on open faces
TASK jacobi_obstructed(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = relaxed(beside(star(p, c, X, Y, Z), solid[c]), c, rhs[c], grid); }, p + Z, rhs, p_new);
}

// What jacobi_half does, on open faces
TASK jacobi_half_obstructed(Range range, In p, In rhs, InByte solid, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = half_relaxed(beside(star(p, c, X, Y, Z), solid[c]), c, rhs[c], grid); }, p + Z, rhs,
            p_new);
}
