// The discrete Laplacian on a level of multigrid. What lies beyond a wall shows a cell its own value, what lies beyond a
// face with p = 0 minus that: the factor `low` or `high` of the direction. What is stored there is never used.

// p beside a cell, along one direction
FN real beside(const real* p, Index c, Index step, bool at_face, real mirror) {
  const real here = p[c], there = p[c + step];
  return at_face ? mirror * here : there;
}

// a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T), with a = 1 / h^2, around the cell (i, j, k), which lies at c
FN real around(const real* p, Index c, Index Y, Index Z, int i, int j, int k, const Mesh& m) {
  const real west = beside(p, c, -1, i == m.first[0], m.low[0]), east = beside(p, c, 1, i == m.last[0], m.high[0]);
  const real south = beside(p, c, -Y, j == m.first[1], m.low[1]), north = beside(p, c, Y, j == m.last[1], m.high[1]);
  const real below = beside(p, c, -Z, k == m.first[2], m.low[2]), above = beside(p, c, Z, k == m.last[2], m.high[2]);
  return m.weight[0] * (west + east) + m.weight[1] * (south + north) + m.weight[2] * (below + above);
}

FN real laplacian(const real* p, Index c, Index Y, Index Z, int i, int j, int k, const Mesh& m) {
  return around(p, c, Y, Z, i, j, k, m) - m.diagonal * p[c];
}

// What a cell's own value, seen beyond the faces across one direction, adds to the Laplacian, over that value
FN real mirrored(int i, const Mesh& m, int axis) {
  return m.weight[axis] * ((i == m.first[axis] ? m.low[axis] : real(0)) + (i == m.last[axis] ? m.high[axis] : real(0)));
}

FN real over(real diagonal) { return diagonal > 0 ? 1 / diagonal : real(0); }

// One over the diagonal of -Laplacian in a cell; 0 where nothing couples it to anything
FN real relaxation(int i, int j, int k, const Mesh& m) {
  const real row = m.diagonal - (mirrored(j, m, 1) + mirrored(k, m, 2));
#ifdef GPU
  const real diagonal = row - mirrored(i, m, 0);
  return diagonal == m.diagonal ? m.relaxation : over(diagonal);
#else
  // The same numbers, divided once per row: a division in some of its cells alone would keep it from being a vector loop.
  const real low = m.weight[0] * m.low[0], high = m.weight[0] * m.high[0];
  const real inside = over(row), at_low = over(row - low), at_high = over(row - high), at_both = over(row - (low + high));
  const bool first = i == m.first[0], last = i == m.last[0];
  return first ? (last ? at_both : at_low) : (last ? at_high : inside);
#endif
}

// Laplacian of a field of another region with the same cells
FN real laplacian(const Foreign& q, Cell c, const Mesh& m) {
  return laplacian(q.field, c.i + c.j * q.y + c.k * q.z, q.y, q.z, c.i, c.j, c.k, m);
}
