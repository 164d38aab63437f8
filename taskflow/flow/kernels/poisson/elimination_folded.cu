// The elimination of elimination.h for modes of planes with walls: a GPU thread walks the four lines of a pair of rows.
#define BX 32
#define BY 4
#define UZ 1073741824
#include "cell.h"
#include "elimination.h"

#define LINES range.hi[0] / 2, range.hi[1] / 2 + 1  // complex numbers of a row, and pairs of rows

TASK find_pivots_folded(Range range, Out pivots, Spectrum s) { prepare<FoldedModes>(range, pivots, s, LINES); }

TASK slab_gains_folded(Range range, Out through, Out reach, Foreign pivots, Spectrum s) {
  tell<FoldedModes>(range, through, reach, pivots, pivots, true, s, LINES);
}

TASK slab_sums_folded(Range range, Out rising, Out falling, Foreign spectrum, Foreign pivots, Spectrum s) {
  tell<FoldedModes>(range, rising, falling, spectrum, pivots, false, s, LINES);
}

TASK eliminate_folded(Range range, InOut spectrum, In pivots, Spectrum s) {
  solve<FoldedModes>(range, spectrum, pivots, s, LINES);
}

TASK eliminate_slab_folded(Range range, InOut spectrum, In pivots, Foreign rising, Foreign falling, Foreign through,
                    Foreign reach, Spectrum s) {
  solve<FoldedModes>(range, spectrum, pivots, rising, falling, through, reach, s, LINES);
}
