// A solution in other units, in place.
#define UZ 4
#define BX 512
#define BY 1
#include "cell.h"

// p = factor p
TASK multiply(Range range, InOut p, real factor) {
  change_cells(range, everywhere(), CELL(c) { return factor * p[c]; }, STORE(c, product) { p[c] = product; });
}
