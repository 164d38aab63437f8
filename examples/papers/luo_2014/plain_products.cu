// Products of a vector with ten others, those of `products` in krylov.cu, whose sums are plain: their bits depend on the order of cells.
#define UZ 32
#define UNROLL 1
#include "cell.h"

TASK plain_products(Range range, InPrivateRows<80, Real_vectors> vectors, In p, In u, In v, In w, PartialOf<10> along, real weight) {
  sum_cells(range, along.of, CELL(c) {
    Sums<10> sums;
    for (int n = 0; n < 10; ++n) {
      const double flow = (double(u[c]) * vectors(c, 4 * n + 1) + double(v[c]) * vectors(c, 4 * n + 2)) + double(w[c]) * vectors(c, 4 * n + 3);
      sums.of[n] = double(weight) * double(p[c]) * vectors(c, 4 * n) + flow;
    }
    return sums;
  });
}
