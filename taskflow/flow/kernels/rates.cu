// Numbers of all cells that steps read.
#define UZ 32
#include "cell.h"
#include "crossing.h"
#include "flags.h"

// rate = max of |u|/dx + |v|/dy + |w|/dz, each with the larger of a cell's two faces
TASK advective_rate(Range range, In u, In v, In w, Partial rate, Grid grid) {
  STRIDES(range)
  reduce_cells(range, rate, MAX, CELL(c) {
    return crossings(fastest(u[c], u[c + X]), fastest(v[c], v[c + Y]), fastest(w[c], w[c + Z]), axis(grid, 0, c.i, X),
                     axis(grid, 1, c.j, Y), axis(grid, 2, c.k, Z));
  });
}

// total = sum of q on faces across an axis, each counting as the volume around it, or its area: the same bits in any order
TASK exact_sum(Range range, In q, ExactPartial<1> total, In64 bound, real scale, Grid grid, int axis, int layer) {
  if (layer) {
    exact_sum_cells(range, total, *bound * scale, CELL(c) { return Sums<1>{{area(grid, axis, c) * double(q[c])}}; });
  } else {
    exact_sum_cells(range, total, *bound * scale, CELL(c) { return Sums<1>{{volume_on_face(grid, c, axis) * double(q[c])}}; });
  }
}

// total = sum of q at the centres of cells that are not solid
TASK exact_total(Range range, In q OPTIONAL(solid), ExactPartial<1> total, real bound) {
  exact_sum_cells(range, total, bound, CELL(c) { return Sums<1>{{is_solid(solid, c) ? 0.0 : double(q[c])}}; });
}
