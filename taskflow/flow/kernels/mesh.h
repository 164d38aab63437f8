// The discrete Laplacian on a level of multigrid. What lies beyond a wall shows a cell its own value, what lies beyond a
// face with p = 0 minus that: the factor `low` or `high` of the direction. What is stored there is never used.

// Whether a cell lies beside faces of the domain, or at most `away` cells from such a one
FN bool outermost(int i, int j, int k, const Mesh& m, int away = 0) {
  const bool x = (i <= m.first[0] + away) | (i >= m.last[0] - away), y = (j <= m.first[1] + away) | (j >= m.last[1] - away);
  return x | y | (k <= m.first[2] + away) | (k >= m.last[2] - away);
}

// Laplacian(p) in the cell (i, j, k), which lies at c
template <class Number>
FN real laplacian(const Number* p, Index c, Index Y, Index Z, int i, int j, int k, const Mesh& m) {
  const real here = p[c];
  real west = p[c - 1], east = p[c + 1], south = p[c - Y], north = p[c + Y], below = p[c - Z], above = p[c + Z];
#ifdef GPU
  if (outermost(i, j, k, m))  // few cells are: others save the choices
#endif
  {
    west = i == m.first[0] ? m.low[0] * here : west, east = i == m.last[0] ? m.high[0] * here : east;
    south = j == m.first[1] ? m.low[1] * here : south, north = j == m.last[1] ? m.high[1] * here : north;
    below = k == m.first[2] ? m.low[2] * here : below, above = k == m.last[2] ? m.high[2] * here : above;
  }
  return m.weight[0] * (west + east) + m.weight[1] * (south + north) + m.weight[2] * (below + above) - m.diagonal * here;
}

// Laplacian of a field of another region with the same cells
template <class Number>
FN real laplacian(const ForeignOf<Number>& q, Cell c, const Mesh& m) {
  return laplacian(q.field, c.i + c.j * q.y + c.k * q.z, q.y, q.z, c.i, c.j, c.k, m);
}

// What a cell's own value, seen beyond the faces across one direction, adds to the Laplacian, over that value
FN real mirrored(int i, const Mesh& m, int axis) {
  return m.weight[axis] * ((i == m.first[axis] ? m.low[axis] : real(0)) + (i == m.last[axis] ? m.high[axis] : real(0)));
}

FN real inverse(real diagonal, const Mesh& m) {
  const real found = diagonal > 0 ? 1 / diagonal : real(0), usual = m.relaxation;
  return diagonal == m.diagonal ? usual : found;
}

// One over the diagonal of -Laplacian in a cell; 0 where nothing couples it to anything
FN real relaxation(int i, int j, int k, const Mesh& m) {
#ifdef GPU
  if (!outermost(i, j, k, m)) return m.relaxation;
  return inverse(m.diagonal - (mirrored(j, m, 1) + mirrored(k, m, 2)) - mirrored(i, m, 0), m);
#else
  // The same numbers, divided once per row: a division in some of its cells alone would keep it from being a vector loop.
  const real row = m.diagonal - (mirrored(j, m, 1) + mirrored(k, m, 2));
  const real low = m.weight[0] * m.low[0], high = m.weight[0] * m.high[0];
  const real inside = inverse(row, m), at_low = inverse(row - low, m), at_high = inverse(row - high, m);
  const real at_both = inverse(row - (low + high), m);
  const bool first = i == m.first[0], last = i == m.last[0];
  return first ? (last ? at_both : at_low) : (last ? at_high : inside);
#endif
}
