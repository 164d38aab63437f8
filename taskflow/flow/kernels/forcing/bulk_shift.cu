// A velocity shifted to the mean that it should have.
#define UZ 1
#include "cell.h"

// q = q + mean - total share, share being one over the number of cells
TASK shift_to_mean(Range range, InOut q, ExactIn64<1> total, real mean, real share) {
  const real gain = real(mean - total[0] * share);
  for_cells(range, CELL(c) { q[c] += gain; });
}
