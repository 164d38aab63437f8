// The factors of invert.cu are put where solves read them.
#define BX 256
#define BY 1
#include "cell.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<16, Real_pivot> pivot, OutPrivate<16, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int n = 0; n < 16; n += 4) inverse.store_four(c, n, {pivot(c, n), pivot(c, n + 1), pivot(c, n + 2), pivot(c, n + 3)});
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}
