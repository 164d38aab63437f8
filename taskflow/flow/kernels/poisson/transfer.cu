// From a level of multigrid to the next coarser one, whose cells fill the same domain.
#include "cell.h"
#include "faces.h"

// rhs - Laplacian(p) in a cell of the fine level
template <class Operator>
FN real residual(const Foreign& p, const Foreign& rhs, int i, int j, int k, const Operator& m) {
  return at(rhs, i, j, k) - laplacian(p, Cell{i, j, k, 0}, m);
}

// What flows out of a cell through one of its faces
FN real outward(real here, real there, bool at_face, real mirror) { return (at_face ? mirror * here : there) - here; }

// Along one direction: what flows out of two cells beside each other, at the offsets c and c + step
template <class Operator>
FN real outward(const real* p, Index c, Index step, int i, const Operator& m, int axis) {
  const real first = p[c], second = p[c + step];
  const bool at_low = i == m.first[axis], at_high = i + 1 == m.last[axis];
  const auto b = across(axis, m);
  return b(c, at_low, m.low[axis]) * outward(first, p[c - step], at_low, m.low[axis]) +
         b(c + 2 * step, at_high, m.high[axis]) * outward(second, p[c + 2 * step], at_high, m.high[axis]);
}

// Of four pairs of cells that lie beside each other along two other directions
template <class Operator>
FN real outward(const real* p, Index c, Index step, Index u, Index v, int i, const Operator& m, int axis) {
  return (outward(p, c, step, i, m, axis) + outward(p, c + u, step, i, m, axis)) +
         (outward(p, c + v, step, i, m, axis) + outward(p, c + u + v, step, i, m, axis));
}

FN real sum(const Foreign& q, int i, int j, int k) { return at(q, i, j, k) + at(q, i + 1, j, k); }

// coarse = mean of rhs - Laplacian(p) in the 2 x 2 x 2 fine cells of a coarse one: what flows between these cancels
template <class Operator>
FN void restricted(const Range& range, Foreign p, Foreign rhs, Out coarse, const Operator& m) {
  for_cells(range, CELL(c) {
    const int i = 2 * c.i, j = 2 * c.j, k = 2 * c.k;
    const Index first = i + j * p.y + k * p.z;
    const real x = outward(p.field, first, 1, p.y, p.z, i, m, 0), y = outward(p.field, first, p.y, 1, p.z, j, m, 1);
    const real z = outward(p.field, first, p.z, 1, p.y, k, m, 2);
    const real right = (sum(rhs, i, j, k) + sum(rhs, i, j + 1, k)) + (sum(rhs, i, j, k + 1) + sum(rhs, i, j + 1, k + 1));
    coarse[c] = real(0.125) * (right - (m.weight[0] * x + m.weight[1] * y + m.weight[2] * z));
  });
}

TASK restrict_residual(Range range, Foreign p, Foreign rhs, Out coarse, Mesh mesh) {
  restricted(range, p, rhs, coarse, mesh);
}

TASK restrict_residual_variable(Range range, Foreign p, Foreign rhs, Foreign b_x, Foreign b_y, Foreign b_z, Out coarse, Mesh mesh) {
  restricted(range, p, rhs, coarse, Faces{mesh, b_x, b_y, b_z});
}

// Along one direction: the first fine cell that a coarse one overlaps, and which part of the coarse one it and the two
// behind it are.
struct Overlap {
  int first;
  real part, second, third;
};

FN real common(int cell, int coarse, int fine, int begin) {
  const int low = cell * coarse, high = low + coarse, end = begin + fine;
  const int length = (high < end ? high : end) - (low > begin ? low : begin);
  return length > 0 ? real(length) / fine : real(0);
}

// `fine` cells are as long as `coarse` ones.
FN Overlap overlap(int cell, int fine, int coarse) {
  const int begin = cell * fine, first = begin / coarse;
  return {first, common(first, coarse, fine, begin), common(first + 1, coarse, fine, begin), common(first + 2, coarse, fine, begin)};
}

// On cells of a mesh
#ifdef STRETCHEDMESH
FN Overlap overlap(int cell, const Mesh& m, const Transfer& transfer, int axis) {
  const Overlap even = overlap(cell, m.cells[axis], transfer.cells[axis]);
  const real* per_cell = m.per_cell[axis] + even.first;
  const real part = even.part / per_cell[0];
  const real second = even.second > 0 ? even.second / per_cell[1] : real(0);
  const real third = even.third > 0 ? even.third / per_cell[2] : real(0), all = part + second + third;
  return {even.first, part / all, second / all, third / all};
}
#else
FN Overlap overlap(int cell, const Mesh& m, const Transfer& transfer, int axis) {
  return overlap(cell, m.cells[axis], transfer.cells[axis]);
}
#endif

// f along x, f in a plane, f in a box: in the mean over an overlap
template <class F>
FN real mean(const Overlap& x, int j, int k, F f) {
  real total = x.part * f(x.first, j, k);
  if (x.second > 0) total += x.second * f(x.first + 1, j, k);
  if (x.third > 0) total += x.third * f(x.first + 2, j, k);
  return total;
}

template <class F>
FN real mean(const Overlap& x, const Overlap& y, int k, F f) {
  real total = y.part * mean(x, y.first, k, f);
  if (y.second > 0) total += y.second * mean(x, y.first + 1, k, f);
  if (y.third > 0) total += y.third * mean(x, y.first + 2, k, f);
  return total;
}

template <class F>
FN real mean(const Overlap& x, const Overlap& y, const Overlap& z, F f) {
  real total = z.part * mean(x, y, z.first, f);
  if (z.second > 0) total += z.second * mean(x, y, z.first + 1, f);
  if (z.third > 0) total += z.third * mean(x, y, z.first + 2, f);
  return total;
}

template <class Operator>
struct Residual {
  Foreign p, rhs;
  Operator m;
  INLINE real operator()(int i, int j, int k) const { return residual(p, rhs, i, j, k, m); }
};

// The same where other cells meet: the mean over what a coarse cell overlaps of fine ones
template <class Operator>
FN void restricted(const Range& range, Foreign p, Foreign rhs, Out coarse, const Operator& m, const Transfer& transfer) {
  for_cells(range, CELL(c) {
    const Overlap x = overlap(c.i, m, transfer, 0), y = overlap(c.j, m, transfer, 1), z = overlap(c.k, m, transfer, 2);
    coarse[c] = mean(x, y, z, Residual<Operator>{p, rhs, m});
  });
}

TASK restrict_overlapping(Range range, Foreign p, Foreign rhs, Out coarse, Mesh mesh, Transfer transfer) {
  restricted(range, p, rhs, coarse, mesh, transfer);
}

TASK restrict_overlapping_variable(Range range, Foreign p, Foreign rhs, Foreign b_x, Foreign b_y, Foreign b_z, Out coarse, Mesh mesh, Transfer transfer) {
  restricted(range, p, rhs, coarse, Faces{mesh, b_x, b_y, b_z}, transfer);
}

// b on the fine faces between which a coarse one lies, the first of them and the one at the offset `next`: as a flux
// through both has it, 0 where one is closed
struct Crossed {
  Foreign b;
  Index next;
  real part;

  INLINE real operator()(int i, int j, int k) const {
    const Index c = i + j * b.y + k * b.z;
    const real first = b.field[c], second = b.field[part > 0 ? c + next : c], under = (1 - part) * second + part * first;
    return under > 0 ? first * second / under : real(0);
  }
};

// coarse = mean of b over a coarse face across `axis`
TASK coarsen(Range range, Foreign b, Out coarse, Mesh mesh, Transfer transfer, int axis) {
  const int fine = mesh.cells[axis], cells = transfer.cells[axis];
  const Index next = axis == 0 ? 1 : axis == 1 ? b.y : b.z;
  for_cells(range, CELL(c) {
    const int place = (axis == 0 ? c.i : axis == 1 ? c.j : c.k) * fine, first = place / cells;
    const Overlap face{first, 1, 0, 0};
    const Overlap x = axis == 0 ? face : overlap(c.i, mesh, transfer, 0);
    const Overlap y = axis == 1 ? face : overlap(c.j, mesh, transfer, 1);
    const Overlap z = axis == 2 ? face : overlap(c.k, mesh, transfer, 2);
    coarse[c] = mean(x, y, z, Crossed{b, next, real(place - first * cells) / cells});
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
