// A velocity shifted to the mean that it should have.
#define UZ 1
#include "cell.h"

// q = q + mean - (total + rest + last) share, share being one over the number of cells
TASK shift_to_mean(Range range, InOut q, In64 total, In64 rest, In64 last, real mean, real share) {
  const real gain = real(mean - (*total + (*rest + *last)) * share);
  for_cells(range, CELL(c) { q[c] += gain; });
}
