// From a level of multigrid to the next coarser one, whose cells do not match: where its number is odd, or cells are stretched.
#define RESIDENT 2
#include "cell.h"
#include "faces.h"

// Along one direction: the first fine cell that a coarse cell overlaps, and the fractions of the coarse cell in it and in the
// next two.
struct Overlap {
  int first;
  const real* parts;
};

FN Overlap overlap(int cell, const Mesh& m, const Transfer& transfer, int axis) {
  return {cell * m.cells[axis] / transfer.cells[axis], transfer.parts[axis] + 3 * cell};
}

// f in the mean over overlaps
template <class F>
FN real mean(const Overlap& x, const Overlap& y, const Overlap& z, F f) {
  real total = 0;
  for (int k = 0; k < 3 && z.parts[k] > 0; ++k) {
    real plane = 0;
    for (int j = 0; j < 3 && y.parts[j] > 0; ++j) {
      real row = 0;
      for (int i = 0; i < 3 && x.parts[i] > 0; ++i) row += x.parts[i] * f(x.first + i, y.first + j, z.first + k);
      plane += y.parts[j] * row;
    }
    total += z.parts[k] * plane;
  }
  return total;
}

// coarse = mean of rhs - Laplacian(p) over the fine cells that a coarse cell overlaps, in part or whole
template <class Operator>
FN void restricted(const Range& range, Foreign p, Foreign rhs, Out coarse, const Operator& m, const Transfer& transfer) {
  for_cells(range, CELL(c) {
    const Overlap x = overlap(c.i, m, transfer, 0), y = overlap(c.j, m, transfer, 1), z = overlap(c.k, m, transfer, 2);
    coarse[c] = mean(x, y, z, [&](int i, int j, int k) { return at(rhs, i, j, k) - laplacian(p, Cell{i, j, k, 0}, m); });
  });
}

TASK restrict_overlapping(Range range, Foreign p, Foreign rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Out coarse, Mesh mesh,
                          Transfer transfer) {
  restricted(range, p, rhs, coarse, faces(b_x, b_y, b_z, screen, mesh), transfer);
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

// The mean of f over the part of the plane `at` of fine faces across `axis` that lies in a coarse face
template <class F>
FN real mean_across(const Cell& c, int at, const Mesh& mesh, const Transfer& transfer, int axis, F f) {
  const real whole[3] = {1};
  const auto within = [&](int n) { return n == axis ? Overlap{at, whole} : overlap(index(c, n), mesh, transfer, n); };
  return mean(within(0), within(1), within(2), f);
}

// coarse = mean of b over a coarse face across `axis`
TASK coarsen(Range range, Foreign b, Out coarse, Mesh mesh, Transfer transfer, int axis) {
  const int fine = mesh.cells[axis], cells = transfer.cells[axis];
  const Index next = axis == 0 ? 1 : axis == 1 ? b.y : b.z;
  for_cells(range, CELL(c) {
    const int place = index(c, axis) * fine, first = place / cells;
    coarse[c] = mean_across(c, first, mesh, transfer, axis, Crossed{b, next, real(place - first * cells) / cells});
  });
}

// coarse, the mean of b over a face of a side, in series with the fluid from the centres of the fine cells to that of the coarse one
TASK narrow(Range range, Foreign b, InOut coarse, Mesh mesh, Transfer transfer, int axis) {
  const int fine = mesh.cells[axis], cells = transfer.cells[axis];
  for_cells(range, CELL(c) {
    const bool low = index(c, axis) == 0;
    const int cell = low ? 0 : cells - 1, first = cell * fine / cells;
    const real near = transfer.parts[axis][3 * cell + (low ? 0 : fine - 1 - first)], opened = coarse[c];
    const real inner = mean_across(c, low ? 1 : fine - 1, mesh, transfer, axis, [&](int i, int j, int k) { return at(b, i, j, k); });
    const real under = near * inner + (1 - near) * opened;
    coarse[c] = under > 0 ? opened * inner / under : real(0);
  });
}

#ifdef STRETCHEDMESH
FN real width(const Mesh& m, int axis, int n) { return 1 / m.per_cell[axis][n]; }
#else
FN real width(const Mesh& m, int axis, int) { return m.spacing[axis]; }
#endif

// coarse, the mean of a screen over a coarse cell, in series with the fluid from the centre of a fine cell to that of the coarse
// one: as with `narrow`, an opening smaller than a coarse cell does not feel a duct of its own cross-section
TASK coarsen_screen(Range range, Foreign screen, Out coarse, Mesh mesh, Transfer transfer) {
  for_cells(range, CELL(c) {
    const Overlap x = overlap(c.i, mesh, transfer, 0), y = overlap(c.j, mesh, transfer, 1), z = overlap(c.k, mesh, transfer, 2);
    const real held = mean(x, y, z, [&](int i, int j, int k) { return at(screen, i, j, k); });
    const int first[3] = {x.first, y.first, z.first};
    real fluid = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const real fine = width(mesh, axis, first[axis]), whole = fine * transfer.length[axis];
      const real across = whole > fine ? 2 / (whole * (whole - fine)) : real(0);
      fluid = across > fluid ? across : fluid;
    }
    coarse[c] = held > 0 && fluid > 0 ? held * fluid / (held + fluid) : held;
  });
}
