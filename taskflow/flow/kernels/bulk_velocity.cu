// The mean of a velocity over the domain, kept as it is.
#define UZ 32
#include "cell.h"

// total = sum of q over all cells
TASK total_velocity(Range range, In q, Partial total) {
  reduce_cells(range, total, SUM, CELL(c) { return q[c]; });
}
