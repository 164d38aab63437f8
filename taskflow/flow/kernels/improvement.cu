// What a cycle of multigrid finds, added in place: columns of one cell, since a store keeps later loads waiting.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"

// p = p + z
template <class Number>
FN void corrected(const Range& range, InOut p, ForeignOf<Number> z) {
  for_cells(range, CELL(c) { p[c] += at(z, c.i, c.j, c.k); });
}

TASK correct_by(Range range, InOut p, Foreign z) { corrected(range, p, z); }

TASK correct_by_single(Range range, InOut p, ForeignSingle z) { corrected(range, p, z); }
