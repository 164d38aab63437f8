// The elimination of elimination.h for modes of periodic planes: each number of a row has a line of its own.
#define BX 64
#define BY 1
#define UZ 1073741824
#include "cell.h"
#include "elimination.h"

#define LINES range.hi[0], range.hi[1]  // numbers of a row, and rows

TASK find_pivots(Range range, Out pivots, Spectrum s) { prepare<PlainModes>(range, pivots, s, LINES); }

TASK slab_gains(Range range, Out through, Out reach, Foreign pivots, Spectrum s) {
  tell<PlainModes>(range, through, reach, pivots, pivots, true, s, LINES);
}

TASK slab_sums(Range range, Out rising, Out falling, Foreign spectrum, Foreign pivots, Spectrum s) {
  tell<PlainModes>(range, rising, falling, spectrum, pivots, false, s, LINES);
}

TASK eliminate(Range range, InOut spectrum, In pivots, Spectrum s) {
  solve<PlainModes>(range, spectrum, pivots, s, LINES);
}

TASK eliminate_slab(Range range, InOut spectrum, In pivots, Foreign rising, Foreign falling, Foreign through,
                    Foreign reach, Spectrum s) {
  solve<PlainModes>(range, spectrum, pivots, rising, falling, through, reach, s, LINES);
}
