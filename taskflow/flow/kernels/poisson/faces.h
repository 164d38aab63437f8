// The operator div(b grad p) on a level of multigrid or on the grid itself, with b given on the low faces of the cells: a
// mesh with coefficients. What is written for a mesh, with b = 1, is written for this, too: `laplacian`, `relaxation`, ...
#include "mesh.h"

struct Faces : Mesh {
  Foreign x, y, z;  // fields of one region
};

FN Faces faces(const Range& r, In x, In y, In z, const Mesh& m) { return {m, {x, r.y, r.z}, {y, r.y, r.z}, {z, r.y, r.z}}; }

// What couples a cell to its six neighbours: b / h^2 where all cells are alike
struct Coupling {
  real west, east, south, north, below, above;
};

// 0 instead of what b is on a wall
FN real open(real b, bool at_face, real mirror) { return taken(!(at_face & (mirror > 0)), b); }

FN Coupling coupling(int i, int j, int k, const Faces& b) {
  const Index Y = b.x.y, Z = b.x.z, c = i + j * Y + k * Z;
  return {before(b, 0, i) * open(b.x.field[c], i == b.first[0], b.low[0]),
          behind(b, 0, i) * open(b.x.field[c + 1], i == b.last[0], b.high[0]),
          before(b, 1, j) * open(b.y.field[c], j == b.first[1], b.low[1]),
          behind(b, 1, j) * open(b.y.field[c + Y], j == b.last[1], b.high[1]),
          before(b, 2, k) * open(b.z.field[c], k == b.first[2], b.low[2]),
          behind(b, 2, k) * open(b.z.field[c + Z], k == b.last[2], b.high[2])};
}

// div(b grad p) in a cell
template <class Number, class C>
FN real laplacian(const Number* p, C c, Index Y, Index Z, const Faces& b) {
  const Seen q = seen(p, c, Y, Z, b);
  const Coupling a = coupling(c.i, c.j, c.k, b);
  return (a.west * (q.west - q.here) + a.east * (q.east - q.here)) +
         (a.south * (q.south - q.here) + a.north * (q.north - q.here)) +
         (a.below * (q.below - q.here) + a.above * (q.above - q.here));
}

// How often the coupling across a face counts in the diagonal: twice where p = 0 on it
FN real counted(bool at_face, real mirror) { return at_face ? 1 - mirror : real(1); }

// The diagonal of -div(b grad p) in a cell
FN real diagonal(int i, int j, int k, const Faces& b) {
  const Coupling a = coupling(i, j, k, b);
  return (counted(i == b.first[0], b.low[0]) * a.west + counted(i == b.last[0], b.high[0]) * a.east) +
         (counted(j == b.first[1], b.low[1]) * a.south + counted(j == b.last[1], b.high[1]) * a.north) +
         (counted(k == b.first[2], b.low[2]) * a.below + counted(k == b.last[2], b.high[2]) * a.above);
}

// Whether p is sought in a cell: it has an open face
FN bool sought(int i, int j, int k, const Faces& b) { return diagonal(i, j, k, b) > 0; }

template <class C>
FN real relaxation(C, int i, int j, int k, const Faces& b) {
  const real d = diagonal(i, j, k, b), found = 1 / (d > 0 ? d : real(1));
  return d > 0 ? found : real(0);
}

// b on the low faces of cells across a direction
struct Across {
  const real* b;
  INLINE real operator()(Index c, bool at_face, real mirror) const { return open(b[c], at_face, mirror); }
};

FN Across across(int axis, const Faces& b) { return {axis == 0 ? b.x.field : axis == 1 ? b.y.field : b.z.field}; }
