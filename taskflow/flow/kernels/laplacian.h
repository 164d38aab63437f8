// The discrete Laplacian of the pressure. Across walls the pressure has no gradient: there the neighbour is replaced by
// the cell itself, and what lies beyond is never used.

// The two neighbours of a cell along one direction added up; a wall shows the cell its own value.
FN real neighbours(In p, Index c, Index step, bool low_wall, bool high_wall) {
  const real here = p[c], low = p[c - step], high = p[c + step];
  return (low_wall ? here : low) + (high_wall ? here : high);
}

// a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T), with a = 1 / h^2
FN real around(In p, Cell c, Index X, Index Y, Index Z, const Grid& grid) {
  const real ax = grid.inverse[0] * grid.inverse[0], ay = grid.inverse[1] * grid.inverse[1];
  const real az = grid.inverse[2] * grid.inverse[2];
  const real x = neighbours(p, c, X, c.i == grid.first[0], c.i == grid.last[0]);
  const real y = neighbours(p, c, Y, c.j == grid.first[1], c.j == grid.last[1]);
  const real z = neighbours(p, c, Z, c.k == grid.first[2], c.k == grid.last[2]);
  return ax * x + ay * y + az * z;
}
