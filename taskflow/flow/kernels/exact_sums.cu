// Sums with the same bits in any order.
#define UZ 32
#include "cell.h"
#include "metrics.h"

TASK exact_sum(Range range, In q, ExactPartial<1> total, In64 bound, real scale, Grid grid, int axis, int layer) {
  if (layer) {
    exact_sum_cells(range, total, *bound * scale, CELL(c) { return Sums<1>{{area(grid, axis, c) * double(q[c])}}; });
  } else {
    exact_sum_cells(range, total, *bound * scale, CELL(c) { return Sums<1>{{volume_on_face(grid, c, axis) * double(q[c])}}; });
  }
}
