// The divergence of a velocity, which the projection removes.
#define UZ 4
#include "cell.h"
#include "metrics.h"

FN real difference(In q, Index c, Axis a) { return a.per_cell() * (q[c + a.step] - q[c]); }

// rhs = div(u) / dt
TASK divergence(Range range, In u, In v, In w, Out rhs, In64 dt, Grid grid) {
  STRIDES(range)
  const real rate = real(1.0 / *dt);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    rhs[c] = rate * (difference(u, c, x) + difference(v, c, y) + difference(w, c, z));
  });
}
