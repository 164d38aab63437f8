// Sums with the same bits in any order.
#define UZ 32
#include "cell.h"
#include "exact_sums.h"

TASK exact_sum(Range range, In q, Partial total, Partial rest, Partial last, In64 bound, real scale) {
  sum_cells(range, {total, rest, last}, CELL(c) { return cut(q[c], *bound * scale); });
}
