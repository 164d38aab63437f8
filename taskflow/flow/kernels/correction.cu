// The projection, once its pressure is known.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"
#include "flags.h"
#include "metrics.h"

// u = u - dt grad(p), in place, on open faces that are not on walls.
TASK correct(Range range, InOut u, InOut v, InOut w, In p OPTIONAL(solid), In64 dt, Grid grid) {
  STRIDES(range)
  const real step = real(*dt);
  for_cells(range, CELL(c) {
    const real x = step * axis(grid, 0, c.i, X).per_face(), y = step * axis(grid, 1, c.j, Y).per_face();
    const real z = step * axis(grid, 2, c.k, Z).per_face();
    const auto flags = flags_of(solid, c);
    const real here = p[c], u_old = u[c], v_old = v[c], w_old = w[c];
    const real u_next = u_old - x * (here - p[c - X]);
    const real v_next = v_old - y * (here - p[c - Y]);
    const real w_next = w_old - z * (here - p[c - Z]);
    u[c] = (c.i == grid.first[0]) | is_shut(flags, 0) ? u_old : u_next;
    v[c] = (c.j == grid.first[1]) | is_shut(flags, 2) ? v_old : v_next;
    w[c] = (c.k == grid.first[2]) | is_shut(flags, 4) ? w_old : w_next;
  });
}
