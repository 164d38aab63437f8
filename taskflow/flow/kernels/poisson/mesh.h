// The discrete Laplacian on a multigrid level. The ghost value is the inner value at a wall, and its negative at a face with p
// = 0: the factor `mirror_low` or `mirror_high` of the direction. Stored ghost values are never used.
#include "../one.h"

// Cells from `low` to `high` along x, y and z, both included. Whether kernels of stretched meshes gain by InteriorAmid, too,
// has not been measured.
FN auto within(const int (&low)[3], const int (&high)[3]) {
  const Interior found = {{low[1], low[2]}, {high[1], high[2]}, false};
#ifdef STRETCHEDMESH
  return found;
#else
  return InteriorAmid{found, low[0], high[0]};
#endif
}

// Cells that are not adjacent to faces of the domain
FN auto interior(const Mesh& m) {
  return within({m.first[0] + 1, m.first[1] + 1, m.first[2] + 1}, {m.last[0] - 1, m.last[1] - 1, m.last[2] - 1});
}

// Values of a cell and its neighbours.
struct Seen {
  real here, west, east, south, north, below, above;
};

// True if a cell is adjacent to the first, or the last, face of the domain across a direction
template <class C>
FN bool at_low(C c, const Mesh& m, int axis) {
  return !(axis == 0 ? c.amid : c.inner) && index(c, axis) == m.first[axis];
}
template <class C>
FN bool at_high(C c, const Mesh& m, int axis) {
  return !(axis == 0 ? c.amid : c.inner) && index(c, axis) == m.last[axis];
}

// Values read by a cell
template <class Number, class C>
FN Seen seen(const Number* p, C c, Index Y, Index Z, const Mesh& m) {
  const real here = p[c];
  real west = p[c - 1], east = p[c + 1], south = p[c - Y], north = p[c + Y], below = p[c - Z], above = p[c + Z];
  west = at_low(c, m, 0) ? m.mirror_low[0] * here : west, east = at_high(c, m, 0) ? m.mirror_high[0] * here : east;
  south = at_low(c, m, 1) ? m.mirror_low[1] * here : south, north = at_high(c, m, 1) ? m.mirror_high[1] * here : north;
  below = at_low(c, m, 2) ? m.mirror_low[2] * here : below, above = at_high(c, m, 2) ? m.mirror_high[2] * here : above;
  return {here, west, east, south, north, below, above};
}

#ifdef STRETCHEDMESH
// Coupling of cell n of a direction to the previous and to the next cell
FN real before(const Mesh& m, int axis, int n) { return m.per_cell[axis][n] * m.per_face[axis][n]; }
FN real behind(const Mesh& m, int axis, int n) { return m.per_cell[axis][n] * m.per_face[axis][n + 1]; }

// The volume of a cell over the mean one
FN double volume(const Mesh& m, const Cell& c) {
  return double(m.share[0][c.i]) * double(m.share[1][c.j]) * double(m.share[2][c.k]);
}

// Laplacian(p) in a cell
template <class Number, class C>
FN real laplacian(const Number* p, C c, Index Y, Index Z, const Mesh& m) {
  const Seen q = seen(p, c, Y, Z, m);
  return (behind(m, 0, c.i) * (q.east - q.here) - before(m, 0, c.i) * (q.here - q.west)) +
         (behind(m, 1, c.j) * (q.north - q.here) - before(m, 1, c.j) * (q.here - q.south)) +
         (behind(m, 2, c.k) * (q.above - q.here) - before(m, 2, c.k) * (q.here - q.below));
}
#else
FN real before(const Mesh& m, int axis, int) { return m.weight[axis]; }
FN real behind(const Mesh& m, int axis, int) { return m.weight[axis]; }
FN One volume(const Mesh&, const Cell&) { return {}; }

// Laplacian(p) in a cell
template <class Number, class C>
FN real laplacian(const Number* p, C c, Index Y, Index Z, const Mesh& m) {
  const Seen q = seen(p, c, Y, Z, m);
  return m.weight[0] * (q.west + q.east) + m.weight[1] * (q.south + q.north) + m.weight[2] * (q.below + q.above) -
         m.diagonal * q.here;
}
#endif

// Laplacian of a field of another region with the same cells
template <class Number, class C, class Operator>
FN real laplacian(const ForeignOf<Number>& q, C c, const Operator& m) {
  const Number* p = place(q, c);
  c.offset = 0;
  return laplacian(p, c, q.y, q.z, m);
}

// Contribution of a cell's own value, mirrored across the faces of one direction, to the Laplacian, over that value
FN real mirrored(int i, const Mesh& m, int axis) {
  const real low = i == m.first[axis] ? m.mirror_low[axis] : real(0), high = i == m.last[axis] ? m.mirror_high[axis] : real(0);
  return m.weight[axis] * (low + high);
}

// Whether a cell is active, p sought in it
template <class C>
FN bool active(C, const Mesh&) {
  return true;
}

// The coefficients of the Laplacian on the faces across a direction
struct Ones {
  INLINE real operator()(Index, bool, real) const { return 1; }
};

FN Ones across(int, const Mesh&) { return {}; }

#ifdef STRETCHEDMESH
// Contribution of cell n of a direction to the diagonal of -Laplacian
FN real pull(const Mesh& m, int axis, int n) {
  const real low = n == m.first[axis] ? 1 - m.mirror_low[axis] : real(1);
  const real high = n == m.last[axis] ? 1 - m.mirror_high[axis] : real(1);
  return low * before(m, axis, n) + high * behind(m, axis, n);
}

// 1 / diagonal of -Laplacian in the cell (i, j, k), c or an adjacent one; 0 if it is not coupled
template <class C>
FN real relaxation(C, int i, int j, int k, const Mesh& m) {
  const real diagonal = pull(m, 0, i) + pull(m, 1, j) + pull(m, 2, k), found = reciprocal(diagonal > 0 ? diagonal : real(1));
  return diagonal > 0 ? found : real(0);
}
#else
FN real inverse(real diagonal, const Mesh& m) {
  const real found = diagonal > 0 ? 1 / diagonal : real(0), usual = m.relaxation;
  return diagonal == m.diagonal ? usual : found;
}

// 1 / diagonal of -Laplacian in the cell (i, j, k), c or an adjacent one; 0 if it is not coupled
template <class C>
FN real relaxation(C c, int i, int j, int k, const Mesh& m) {
#ifdef GPU
  if constexpr (c.inner && c.amid) return m.relaxation;
  if constexpr (c.inner) return inverse(m.diagonal - mirrored(i, m, 0), m);
  return inverse(m.diagonal - (mirrored(j, m, 1) + mirrored(k, m, 2)) - mirrored(i, m, 0), m);
#else
  // The same numbers, divided once per row: a division in some of its cells alone would keep it from being a vector loop.
  const real row = m.diagonal - (mirrored(j, m, 1) + mirrored(k, m, 2));
  const real low = m.weight[0] * m.mirror_low[0], high = m.weight[0] * m.mirror_high[0];
  const real inside = inverse(row, m), at_low = inverse(row - low, m), at_high = inverse(row - high, m);
  const real at_both = inverse(row - (low + high), m);
  const bool first = i == m.first[0], last = i == m.last[0];
  return first ? (last ? at_both : at_low) : (last ? at_high : inside);
#endif
}
#endif

template <class C>
FN real relaxation(C c, const Mesh& m) {
  return relaxation(c, c.i, c.j, c.k, m);
}
