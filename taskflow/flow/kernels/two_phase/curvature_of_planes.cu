// The curvature of an interface of planes: from heights, else from a paraboloid, else none.
#define UZ 8
#define BX 32
#include "cell.h"
#include "../flags.h"
#include "paraboloid.h"

// kappa, at most 1 over the spacing; heights are tried along the direction in which the normal is longest first
RARE_FN real bent(In f, const Cell& c, Index X, Index Y, Index Z, const Grid& grid, bool& known) {
  const Lines a = lines(grid, c, X, Y, Z);
  const Normal m = normal(f, c, a);
  known = false;
  if (steepness(m) == 0) return 0;
  const real x = magnitude(m.x) * a.x.inverse, y = magnitude(m.y) * a.y.inverse, z = magnitude(m.z) * a.z.inverse;
  const int most = (x >= y) & (x >= z) ? 0 : y >= z ? 1 : 2, least = (z <= x) & (z <= y) ? 2 : y <= x ? 1 : 0;
  const int order[3] = {most, 3 - most - (least == most ? (most + 1) % 3 : least), least == most ? (most + 1) % 3 : least};
  real value = 0;
  for (int n = 0; n < 3 && !known; ++n) {
    value = order[n] == 0   ? bent_by_heights(f, c, a.x, a.y, a.z, m.x > 0, known)
            : order[n] == 1 ? bent_by_heights(f, c, a.y, a.x, a.z, m.y > 0, known)
                            : bent_by_heights(f, c, a.z, a.x, a.y, m.z > 0, known);
  }
  if (!known) value = bent_by_paraboloid(f, c, m, X, Y, Z, grid, known);
  const real limit = max(max(a.x.inverse, a.y.inverse), a.z.inverse);
  return known ? min(max(value, -limit), limit) : real(0);
}

TASK curvature_of_planes(Range range, In f, Out kappa, Grid grid) {
  STRIDES(range)
  const auto cut = CELL(c) { return is_bent(f[c]); };
  most_cells(range, everywhere(), CELL(c) { return real(0); }, cut, CELL(c) {
    bool known = false;
    return cut(c) ? bent(f, Cell{c.i, c.j, c.k, c.offset}, X, Y, Z, grid, known) : real(0);
  }, STORE(c, value) { kappa[c] = value; });
}

// A cell with a small share of phase 1, and none around that the interface cuts
FN bool is_crumb(In f, Index c, const Lines& a) {
  if (!(is_cut(f[c]) & (f[c] < real(1e-4)))) return false;
  for (int n = 0; n < 27; ++n) {
    const int i = n % 3 - 1, j = n / 3 % 3 - 1, k = n / 9 - 1;
    if (n != 13 && is_cut(f[beside(beside(beside(c, a.x, i), a.y, j), a.z, k)])) return false;
  }
  return true;
}

// missed = the number of cells that the interface cuts without a curvature, but for crumbs, and of crumbs
TASK curvature_missed(Range range, In f OPTIONAL(solid), PartialOf<2> missed, Grid grid) {
  STRIDES(range)
  sum_cells(range, missed.of, CELL(c) {
    if (!is_cut(f[c]) || is_solid(solid, c)) return Sums<2>{{0.0, 0.0}};
    if (is_crumb(f, c, lines(grid, c, X, Y, Z))) return Sums<2>{{0.0, 1.0}};
    bool known = true;
    if (is_bent(f[c])) bent(f, Cell{c.i, c.j, c.k, c.offset}, X, Y, Z, grid, known);
    return Sums<2>{{known ? 0.0 : 1.0, 0.0}};
  });
}
