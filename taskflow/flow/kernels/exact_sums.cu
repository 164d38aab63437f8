// Sums with the same bits in any order.
#define UZ 32
#include "cell.h"
#include "exact_sums.h"
#include "metrics.h"

TASK exact_sum(Range range, In q, Partial total, Partial rest, Partial last, In64 bound, real scale, Grid grid, int axis,
               int layer) {
  if (layer) {
    sum_cells(range, {total, rest, last}, CELL(c) { return cut(area(grid, axis, c) * double(q[c]), *bound * scale); });
  } else {
    sum_cells(range, {total, rest, last}, CELL(c) { return cut(volume_on_face(grid, c, axis) * double(q[c]), *bound * scale); });
  }
}
