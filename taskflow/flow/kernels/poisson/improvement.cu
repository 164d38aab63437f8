// What a cycle of multigrid finds, added in place.
#define UZ 4
#define BX 512
#define BY 1
#include "cell.h"

// p = p + z
template <class Number>
FN void corrected(const Range& range, InOut p, ForeignOf<Number> z) {
  change_cells(range, everywhere(), CELL(c) { return p[c] + at(z, c); }, STORE(c, sum) { p[c] = sum; });
}

TASK correct_by(Range range, InOut p, Foreign z) { corrected(range, p, z); }

TASK correct_by_single(Range range, InOut p, ForeignSingle z) { corrected(range, p, z); }
