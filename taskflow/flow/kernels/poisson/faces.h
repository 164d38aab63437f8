// The operator div(b grad p) on a multigrid level or on the grid itself, with b on the low faces of the cells: a mesh with
// coefficients. The functions of a mesh with b = 1 exist for this, too: `laplacian`, `relaxation`, ...
#include "mesh.h"

struct Faces : Mesh {
  Foreign x;           // b across x, with the same strides as across y and z
  const real *y, *z;
};

// div(b grad p) - screen p, with the same strides
struct Screened : Faces {
  const real* screen;
};

// The operator of a launch: with coefficients of another region, of its own region, or without
FN Faces faces(const Foreign& x, const Foreign& y, const Foreign& z, None, const Mesh& m) { return {m, x, y.field, z.field}; }
FN Faces faces(const Range& r, In x, In y, In z, None, const Mesh& m) { return {m, {x, r.y, r.z}, y, z}; }
FN Screened faces(const Foreign& x, const Foreign& y, const Foreign& z, const Foreign& screen, const Mesh& m) {
  return {faces(x, y, z, None{}, m), screen.field};
}
FN Screened faces(const Range& r, In x, In y, In z, In screen, const Mesh& m) { return {faces(r, x, y, z, None{}, m), screen}; }
FN Mesh faces(None, None, None, None, Mesh m) { return m; }
FN Mesh faces(Range, None, None, None, None, Mesh m) { return m; }

// As for a mesh, except for inner cells: with coefficients a second copy of the code takes too many registers.
FN Interior interior(const Faces& b) {
  const Mesh& m = b;
  return interior(m);
}

// A number for each of the six faces of a cell
struct Six {
  real west, east, south, north, below, above;
};

// 0 instead of b on a wall
FN real open(real b, bool at_face, real mirror) { return taken(!(at_face & (mirror > 0)), b); }

template <class C>
FN Six open(C c, const Faces& b) {
  const real *x = place(b.x, c), *y = b.y + (x - b.x.field), *z = b.z + (x - b.x.field);
  return {open(x[0], at_low(c, b, 0), b.mirror_low[0]), open(x[1], at_high(c, b, 0), b.mirror_high[0]),
          open(y[0], at_low(c, b, 1), b.mirror_low[1]), open(y[b.x.y], at_high(c, b, 1), b.mirror_high[1]),
          open(z[0], at_low(c, b, 2), b.mirror_low[2]), open(z[b.x.z], at_high(c, b, 2), b.mirror_high[2])};
}

// Coupling of a cell to its six neighbours: b / h^2 if all cells are equal
template <class C>
FN Six coupling(C c, const Faces& b) {
  const Six o = open(c, b);
  return {before(b, 0, c.i) * o.west,  behind(b, 0, c.i) * o.east,  before(b, 1, c.j) * o.south,
          behind(b, 1, c.j) * o.north, before(b, 2, c.k) * o.below, behind(b, 2, c.k) * o.above};
}

// div(b grad p) in a cell
template <class Number, class C>
FN real laplacian(const Number* p, C c, Index Y, Index Z, const Faces& b) {
  const Seen q = seen(p, c, Y, Z, b);
  const Six a = coupling(c, b);
  return (a.west * (q.west - q.here) + a.east * (q.east - q.here)) +
         (a.south * (q.south - q.here) + a.north * (q.north - q.here)) +
         (a.below * (q.below - q.here) + a.above * (q.above - q.here));
}

// Multiplicity of the coupling across a face in the diagonal: 2 if p = 0 on it
FN real counted(bool at_face, real mirror) { return at_face ? 1 - mirror : real(1); }

// The diagonal of -div(b grad p) in a cell
template <class C>
FN real diagonal(C c, const Faces& b) {
  const Six a = coupling(c, b);
  return (counted(at_low(c, b, 0), b.mirror_low[0]) * a.west + counted(at_high(c, b, 0), b.mirror_high[0]) * a.east) +
         (counted(at_low(c, b, 1), b.mirror_low[1]) * a.south + counted(at_high(c, b, 1), b.mirror_high[1]) * a.north) +
         (counted(at_low(c, b, 2), b.mirror_low[2]) * a.below + counted(at_high(c, b, 2), b.mirror_high[2]) * a.above);
}

// Whether a cell is active, p sought in it: it has an open face
template <class C>
FN bool active(C c, const Faces& b) {
  const Six o = open(c, b);
  return b.weight[0] * (o.west + o.east) + b.weight[1] * (o.south + o.north) + b.weight[2] * (o.below + o.above) > 0;
}

// 1 / d, or 0 where the cell is not active
FN real inverse_or_zero(real d) {
  const real found = reciprocal(d > 0 ? d : real(1));
  return d > 0 ? found : real(0);
}

template <class C>
FN real relaxation(C c, const Faces& b) {
  return inverse_or_zero(diagonal(c, b));
}

template <class C>
FN real screening(C c, const Screened& b) {
  return b.screen[place(b.x, c) - b.x.field];
}

template <class Number, class C>
FN real laplacian(const Number* p, C c, Index Y, Index Z, const Screened& b) {
  const Faces& without = b;
  return laplacian(p, c, Y, Z, without) - screening(c, b) * p[c];
}

template <class C>
FN bool active(C c, const Screened& b) {
  const Faces& without = b;
  return active(c, without) | (screening(c, b) > 0);
}

template <class C>
FN real relaxation(C c, const Screened& b) {
  const Faces& without = b;
  return inverse_or_zero(diagonal(c, without) + screening(c, b));
}

// b on the low faces of cells across a direction
struct Across {
  const real* b;
  INLINE real operator()(Index c, bool at_face, real mirror) const { return open(b[c], at_face, mirror); }
};

FN Across across(int axis, const Faces& b) { return {axis == 0 ? b.x.field : axis == 1 ? b.y : b.z}; }
