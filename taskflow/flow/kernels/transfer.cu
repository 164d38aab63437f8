// From a level of multigrid to the next coarser one, whose cells fill the same domain.
#include "cell.h"
#include "mesh.h"

// rhs - Laplacian(p) in a cell of the fine level
FN real residual(const Foreign& p, const Foreign& rhs, int i, int j, int k, const Mesh& m) {
  return at(rhs, i, j, k) - laplacian(p, Cell{i, j, k, 0}, m);
}

// What flows out of a cell through one of its faces
FN real outward(real here, real there, bool at_face, real mirror) { return (at_face ? mirror * here : there) - here; }

// Along one direction: what flows out of two cells beside each other, at the offsets c and c + step
FN real outward(const real* p, Index c, Index step, int i, const Mesh& m, int axis) {
  const real first = p[c], second = p[c + step];
  return outward(first, p[c - step], i == m.first[axis], m.low[axis]) +
         outward(second, p[c + 2 * step], i + 1 == m.last[axis], m.high[axis]);
}

// Of four pairs of cells that lie beside each other along two other directions
FN real outward(const real* p, Index c, Index step, Index b, Index d, int i, const Mesh& m, int axis) {
  return (outward(p, c, step, i, m, axis) + outward(p, c + b, step, i, m, axis)) +
         (outward(p, c + d, step, i, m, axis) + outward(p, c + b + d, step, i, m, axis));
}

FN real sum(const Foreign& q, int i, int j, int k) { return at(q, i, j, k) + at(q, i + 1, j, k); }

// coarse = mean of rhs - Laplacian(p) in the 2 x 2 x 2 fine cells of a coarse one: what flows between these cancels
TASK restrict_residual(Range range, Foreign p, Foreign rhs, Out coarse, Mesh mesh) {
  for_cells(range, CELL(c) {
    const int i = 2 * c.i, j = 2 * c.j, k = 2 * c.k;
    const Index first = i + j * p.y + k * p.z;
    const real x = outward(p.field, first, 1, p.y, p.z, i, mesh, 0), y = outward(p.field, first, p.y, 1, p.z, j, mesh, 1);
    const real z = outward(p.field, first, p.z, 1, p.y, k, mesh, 2);
    const real right = (sum(rhs, i, j, k) + sum(rhs, i, j + 1, k)) + (sum(rhs, i, j, k + 1) + sum(rhs, i, j + 1, k + 1));
    coarse[c] = real(0.125) * (right - (mesh.weight[0] * x + mesh.weight[1] * y + mesh.weight[2] * z));
  });
}

// Along one direction: the first fine cell that a coarse one overlaps, and which part of the coarse one it and the two
// behind it are; `fine` cells are as long as `coarse` ones.
struct Overlap {
  int first;
  real part, second, third;
};

FN real common(int cell, int coarse, int fine, int begin) {
  const int low = cell * coarse, high = low + coarse, end = begin + fine;
  const int length = (high < end ? high : end) - (low > begin ? low : begin);
  return length > 0 ? real(length) / fine : real(0);
}

FN Overlap overlap(int cell, int fine, int coarse) {
  const int begin = cell * fine, first = begin / coarse;
  return {first, common(first, coarse, fine, begin), common(first + 1, coarse, fine, begin), common(first + 2, coarse, fine, begin)};
}

FN real overlapped(const Foreign& p, const Foreign& rhs, const Overlap& x, int j, int k, const Mesh& m) {
  real total = x.part * residual(p, rhs, x.first, j, k, m);
  if (x.second > 0) total += x.second * residual(p, rhs, x.first + 1, j, k, m);
  if (x.third > 0) total += x.third * residual(p, rhs, x.first + 2, j, k, m);
  return total;
}

FN real overlapped(const Foreign& p, const Foreign& rhs, const Overlap& x, const Overlap& y, int k, const Mesh& m) {
  real total = y.part * overlapped(p, rhs, x, y.first, k, m);
  if (y.second > 0) total += y.second * overlapped(p, rhs, x, y.first + 1, k, m);
  if (y.third > 0) total += y.third * overlapped(p, rhs, x, y.first + 2, k, m);
  return total;
}

// The same where other cells meet: the mean over what a coarse cell overlaps of fine ones
TASK restrict_overlapping(Range range, Foreign p, Foreign rhs, Out coarse, Mesh mesh, Transfer transfer) {
  for_cells(range, CELL(c) {
    const Overlap x = overlap(c.i, mesh.cells[0], transfer.cells[0]);
    const Overlap y = overlap(c.j, mesh.cells[1], transfer.cells[1]);
    const Overlap z = overlap(c.k, mesh.cells[2], transfer.cells[2]);
    real total = z.part * overlapped(p, rhs, x, y, z.first, mesh);
    if (z.second > 0) total += z.second * overlapped(p, rhs, x, y, z.first + 1, mesh);
    if (z.third > 0) total += z.third * overlapped(p, rhs, x, y, z.first + 2, mesh);
    coarse[c] = total;
  });
}

// all = part, on blocks each of which then has all of it
TASK gather(Range range, Foreign part, Out all) {
  for_cells(range, CELL(c) { all[c] = at(part, c.i, c.j, c.k); });
}

// The same from double precision, in which residuals are kept
TASK gather_double(Range range, ForeignDouble part, Out all) {
  for_cells(range, CELL(c) { all[c] = at(part, c.i, c.j, c.k); });
}
