// What the projection takes away: the divergence of a velocity.
#define UZ 4
#include "cell.h"

FN real difference(In q, Index c, Index step, real inverse) { return inverse * (q[c + step] - q[c]); }

// rhs = div(u) / dt
TASK divergence(Range range, In u, In v, In w, Out rhs, In64 dt, Grid grid) {
  STRIDES(range)
  const real rate = real(1.0 / *dt);
  for_cells(range, CELL(c) {
    rhs[c] = rate * (difference(u, c, X, grid.inverse[0]) + difference(v, c, Y, grid.inverse[1]) +
                     difference(w, c, Z, grid.inverse[2]));
  });
}
