// From a level of multigrid to the next coarser one, whose cells fill the same domain.
#include "cell.h"
#include "faces.h"
#include "unit.h"

// Flux out of a cell through one of its faces
FN real outward(real here, real there, bool at_face, real mirror) { return (at_face ? mirror * here : there) - here; }

// Along one direction: flux out of two adjacent cells at the offsets c and c + step
template <class Operator>
FN real outward(const real* p, Index c, Index step, int i, const Operator& m, int axis) {
  const real first = p[c], second = p[c + step];
  const bool at_low = i == m.first[axis], at_high = i + 1 == m.last[axis];
  const auto b = across(axis, m);
  return b(c, at_low, m.mirror_low[axis]) * outward(first, p[c - step], at_low, m.mirror_low[axis]) +
         b(c + 2 * step, at_high, m.mirror_high[axis]) * outward(second, p[c + 2 * step], at_high, m.mirror_high[axis]);
}

// The same for four pairs of cells that are adjacent along two other directions
template <class Operator>
FN real outward(const real* p, Index c, Index step, Index u, Index v, int i, const Operator& m, int axis) {
  return (outward(p, c, step, i, m, axis) + outward(p, c + u, step, i, m, axis)) +
         (outward(p, c + v, step, i, m, axis) + outward(p, c + u + v, step, i, m, axis));
}

FN real sum(const Foreign& q, int i, int j, int k) { return at(q, i, j, k) + at(q, i + 1, j, k); }

// screen p in the 2 x 2 x 2 fine cells of a coarse one, whose first is at the offset c: none without a screen
FN real screened(real right, const Foreign&, Index, const Mesh&) { return right; }
FN real screened(real right, const Foreign& p, Index c, const Screened& m) {
  for (int n = 0; n < 8; ++n) {
    const Index fine = c + (n & 1) + (n >> 1 & 1) * p.y + (n >> 2) * p.z;
    right += m.screen[fine] * p.field[fine];
  }
  return right;
}

// coarse = mean of rhs - Laplacian(p) in the 2 x 2 x 2 fine cells of a coarse one: fluxes between these cancel
template <class Operator>
FN void restricted(const Range& range, Foreign p, Foreign rhs, Out coarse, const Operator& m) {
  for_cells(range, CELL(c) {
    const int i = 2 * c.i, j = 2 * c.j, k = 2 * c.k;
    const Index first = i + j * p.y + k * p.z;
    const real x = outward(p.field, first, 1, p.y, p.z, i, m, 0), y = outward(p.field, first, p.y, 1, p.z, j, m, 1);
    const real z = outward(p.field, first, p.z, 1, p.y, k, m, 2);
    const real right = (sum(rhs, i, j, k) + sum(rhs, i, j + 1, k)) + (sum(rhs, i, j, k + 1) + sum(rhs, i, j + 1, k + 1));
    coarse[c] = real(0.125) * (screened(right, p, first, m) - (m.weight[0] * x + m.weight[1] * y + m.weight[2] * z));
  });
}

TASK restrict_residual(Range range, Foreign p, Foreign rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Out coarse, Mesh mesh) {
  restricted(range, p, rhs, coarse, faces(b_x, b_y, b_z, screen, mesh));
}

// all = part, on blocks each of which then has all of it, perhaps in another precision
TASK gather(Range range, ForeignOf<Real_part> part, Out all) {
  for_cells(range, CELL(c) { all[c] = at(part, c.i, c.j, c.k); });
}

// all = part in units of the right-hand side: single precision holds numbers from 1e-38 on, flows may be weaker
TASK gather_in_units(Range range, ForeignOf<Real_part> part, Out all, In64 norm) {
  const double inverse = 1 / unit_of(*norm);
  for_cells(range, CELL(c) { all[c] = real(inverse * *place(part, c)); });
}
