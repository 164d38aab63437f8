// The discrete Laplacian of the pressure. Across walls the pressure has no gradient: there the neighbour is replaced by
// the cell itself, and what lies beyond is never used.
#include "star.h"

// The two neighbours of a cell along one direction added up; a wall shows the cell its own value.
FN real neighbours(const Star& p, int axis, bool low_wall, bool high_wall) {
  return (low_wall ? p.here : p.low[axis]) + (high_wall ? p.here : p.high[axis]);
}

// a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T), with a = 1 / h^2
FN real around(const Star& p, Cell c, const Grid& grid) {
  const real ax = grid.inverse[0] * grid.inverse[0], ay = grid.inverse[1] * grid.inverse[1];
  const real az = grid.inverse[2] * grid.inverse[2];
  const real x = neighbours(p, 0, c.i == grid.first[0], c.i == grid.last[0]);
  const real y = neighbours(p, 1, c.j == grid.first[1], c.j == grid.last[1]);
  const real z = neighbours(p, 2, c.k == grid.first[2], c.k == grid.last[2]);
  return ax * x + ay * y + az * z;
}
