// The least and the largest value of a field in the fluid.
#include "cell.h"
#include "flags.h"

constexpr double NOWHERE = 1e300;  // of a cell in a body, which does not count

TASK lowest(Range range, In q OPTIONAL(solid), Partial low) {
  reduce_cells(range, low, MIN, CELL(c) { return is_solid(solid, c) ? NOWHERE : double(q[c]); });
}

TASK highest(Range range, In q OPTIONAL(solid), Partial high) {
  reduce_cells(range, high, MAX, CELL(c) { return is_solid(solid, c) ? -NOWHERE : double(q[c]); });
}
