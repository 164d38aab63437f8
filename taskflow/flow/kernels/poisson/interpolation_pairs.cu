// From a level of multigrid to the next finer one, whose cells lie two by two by two in coarse ones, where coefficients are
// variable. In most cells they are the same all around.
#define UZ 8
#define UNROLL 4
#define BY 2
#define RESIDENT (sizeof(real) == 4 ? 3 : 2)
#include "cell.h"
#include "between.h"
#include "faces.h"
#include "resistance.h"

FN int odd(Cell c) { return c.k & 1; }
FN int odd(Inner c) { return c.odd; }

// Whether b, given at the low face of a fine cell, is the same on all faces that the ways to both coarse cells cross. At an end of
// the domain there is one coarse cell only.
FN bool even(const real* b, Index step, int odd, bool at_end) {
  const real* first = odd ? b : b - step;
  return at_end | ((first[0] == first[step]) & (first[step] == first[2 * step]));
}

// p = p + the coarse correction where p is active on the fine level, interpolated along each direction as b lets it change
TASK correct_by_pairs_variable(Range range, InOut p, Foreign coarse, Foreign b_x, Foreign b_y, Foreign b_z, Mesh mesh, Mesh fine) {
  const Faces b = faces(b_x, b_y, b_z, fine);
  const Index Y = b_x.y, Z = b_x.z;
  const real half = real(0.5);
  const auto correction = [=](const Between& x, const Between& y, const Between& z) {
    return z.low_weight * mean(square(coarse, x, y, z.low), x, y) + z.high_weight * mean(square(coarse, x, y, z.high), x, y);
  };
  most_cells(range, paired(mesh), CELL(c) {
    const real linear = correction(between(c.i, half, mesh, 0), between(c.j, half, mesh, 1), along_z(c, half, mesh));
    return p[c] + (active(c, b) ? linear : real(0));
  }, CELL(c) {
    const Index f = place(b_x, c) - b_x.field;
    const auto at_end = [&](int axis) { return at_low(c, b, axis) | at_high(c, b, axis); };
    return !(even(b.x.field + f, 1, c.i & 1, at_end(0)) & even(b.y + f, Y, c.j & 1, at_end(1)) &
             even(b.z + f, Z, odd(c), at_end(2)));
  }, CELL(c) {
    const Index f = place(b_x, c) - b_x.field;
    const Between x = between(c.i, half, mesh, 0), y = between(c.j, half, mesh, 1), z = between(c.k, half, mesh, 2);
    const real bent = correction(between(x, 2, crossed(x, 2, b.x.field + f, 1)), between(y, 2, crossed(y, 2, b.y + f, Y)),
                                 between(z, 2, crossed(z, 2, b.z + f, Z)));
    return p[c] + (active(c, b) ? bent : real(0));
  }, STORE(c, value) { p[c] = value; }, In(p));
}
