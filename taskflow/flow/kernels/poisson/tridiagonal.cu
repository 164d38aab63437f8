// The filters of filters.h for modes of periodic planes: each number of a row has a line of its own.
#define BX 64
#define BY 1
#define UZ 1073741824
#include "cell.h"
#include "filters.h"

#define LINES range.hi[0], range.hi[1]  // numbers of a row, and rows

TASK slab_ends(Range range, Out rising, Out falling, Foreign spectrum, Spectrum s) {
  tell<PlainModes>(range, rising, falling, spectrum, s, LINES);
}

TASK tridiagonal_slab(Range range, InOut spectrum, Foreign rising, Foreign falling, Spectrum s) {
  solve<PlainModes>(range, spectrum, rising, falling, s, LINES);
}

TASK tridiagonal(Range range, InOut spectrum, Spectrum s) {
  solve<PlainModes>(range, spectrum, s, LINES);
}
