// Smoothers of multigrid: relaxations of Laplacian(p) = rhs, or of div(b grad p) = rhs, each from one field to another.
#define UZ 16
#define UNROLL (sizeof(real) == 4 ? 8 : 2)
#define BY 2
#define RESIDENT 4
#include "cell.h"
#include "faces.h"

FN bool coloured(int i, int j, int k, int colour) { return ((i + j + k) & 1) == colour; }

// True if a cell is relaxed: all cells, or one colour
template <class C>
FN bool chosen(C, None) {
  return true;
}
template <class C>
FN bool chosen(C c, int colour) {
  return coloured(c.i, c.j, c.k, colour);
}

// p after a relaxation of its cell that brings the residual there to 0 where weight = 1
template <class C, class Operator>
FN real relaxed(const real* p, C c, Index Y, Index Z, real rhs, const Operator& m, real weight) {
  return p[c] + weight * relaxation(c, m) * (laplacian(p, c, Y, Z, m) - rhs);
}

// p_new = p, relaxed in all cells or in one colour
TASK relax(Range range, In p, In rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Out p_new, Mesh mesh,
           real weight OPTIONAL(colour)) {
  STRIDES(range)
  const auto m = faces(range, b_x, b_y, b_z, screen, mesh);
  for_cells(range, interior(m), CELL(c) {
    const real next = relaxed(p, c, Y, Z, rhs[c], m, weight);
    p_new[c] = chosen(c, colour) ? next : p[c];
  });
}

// p = relax of 0
TASK smooth_from_zero(Range range, In rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Out p, Mesh mesh,
                      real weight OPTIONAL(colour)) {
  const auto m = faces(range, b_x, b_y, b_z, screen, mesh);
  for_cells(range, interior(m), CELL(c) {
    const real next = -weight * relaxation(c, m) * rhs[c];
    p[c] = chosen(c, colour) ? next : real(0);
  });
}

// The cells at the ends of a direction without an outer neighbour of the other colour: next to walls, and at the seam of a
// periodic direction with an odd number of cells, where two cells of the same colour meet.
struct Ends {
  int first, last;
};

FN Ends ends(const Mesh& m, int axis) {
  const bool seamless = m.first[axis] != 0 && m.cells[axis] % 2 == 0;
  return {seamless ? -1 : 0, seamless ? -1 : m.cells[axis] - 1};
}

// p = relax of 0 in `colour`, then in the other colour: for the first, all neighbours are 0, for the second, neighbours of the
// same colour are 0, except for values mirrored at faces of the domain.
TASK smooth_colours_from_zero(Range range, In rhs, Out p, Mesh mesh, real weight, int colour) {
  STRIDES(range)
  const Ends ex = ends(mesh, 0), ey = ends(mesh, 1), ez = ends(mesh, 2);
  const auto inside = within({2, 2, 2}, {mesh.cells[0] - 3, mesh.cells[1] - 3, mesh.cells[2] - 3});
  for_cells(range, inside, CELL(c) {
    const int i = c.i, j = c.j, k = c.k;
    const real here = rhs[c], west = rhs[c - X], east = rhs[c + X], south = rhs[c - Y], north = rhs[c + Y];
    const real below = rhs[c - Z], above = rhs[c + Z];
    const real own = relaxation(c, i, j, k, mesh);
    const real w = before(mesh, 0, i) * relaxation(c, i - 1, j, k, mesh), e = behind(mesh, 0, i) * relaxation(c, i + 1, j, k, mesh);
    const real s = before(mesh, 1, j) * relaxation(c, i, j - 1, k, mesh), n = behind(mesh, 1, j) * relaxation(c, i, j + 1, k, mesh);
    const real b = before(mesh, 2, k) * relaxation(c, i, j, k - 1, mesh), a = behind(mesh, 2, k) * relaxation(c, i, j, k + 1, mesh);
    const real x = (!c.amid && i == ex.first ? real(0) : w * west) + (!c.amid && i == ex.last ? real(0) : e * east);
    const real y = (!c.inner && j == ey.first ? real(0) : s * south) + (!c.inner && j == ey.last ? real(0) : n * north);
    const real z = (!c.inner && k == ez.first ? real(0) : b * below) + (!c.inner && k == ez.last ? real(0) : a * above);
    p[c] = -weight * own * (here + (coloured(i, j, k, colour) ? real(0) : weight * (x + y + z)));
  });
}
