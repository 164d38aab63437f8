// The term of pseudo-time in the balance of a cell.
#include "cell.h"
#include "../pace.h"
#include "compressible.h"

TASK pseudo_time(Range range, In u, In v, In w, Out pseudo OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t), In64 slowness, Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const auto g = geometry(metrics, numbers);
  const real slow = real(*slowness);
  for_cells(range, CELL(c) {
    pseudo[c] = slow * per_step(g, c, {u[c], v[c], w[c]}, compressible(b, numbers, c, c), numbers, swept, nu_t, steps);
  });
}
