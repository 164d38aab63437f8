// The power of waves, and its mean over time.
#include "cell.h"

// |c|^2 of the complex number m of a row
FN double square(const Foreign& rows, int m, int j, int k) {
  const double a = double(at(rows, 2 * m, j, k)), b = double(at(rows, 2 * m + 1, j, k));
  return a * a + b * b;
}

// The mean with a sample that makes up a share of the weight of all
FN real running(real old, double now, double share) { return old + real(share) * (real(now) - old); }
