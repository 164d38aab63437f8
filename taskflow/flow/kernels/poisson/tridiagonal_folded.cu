// The filters of filters.h for modes of planes with walls: a GPU thread walks the four lines of a pair of rows.
#define BX 32
#define BY 4
#define UZ 1073741824
#include "cell.h"
#include "filters.h"

#define LINES range.hi[0] / 2, range.hi[1] / 2 + 1  // complex numbers of a row, and pairs of rows

TASK slab_ends_folded(Range range, Out rising, Out falling, Foreign spectrum, Spectrum s) {
  tell<FoldedModes>(range, rising, falling, spectrum, s, LINES);
}

TASK tridiagonal_slab_folded(Range range, InOut spectrum, Foreign rising, Foreign falling, Spectrum s) {
  solve<FoldedModes>(range, spectrum, rising, falling, s, LINES);
}

TASK tridiagonal_folded(Range range, InOut spectrum, Spectrum s) { solve<FoldedModes>(range, spectrum, s, LINES); }
