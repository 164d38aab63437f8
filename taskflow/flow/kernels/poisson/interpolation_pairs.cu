// From a level of multigrid to the next finer one, whose cells lie two by two by two in coarse ones, where coefficients are
// variable. In most cells they are the same all around.
#define UZ 16
#define UNROLL 4
#define BX 64
#define BY 2
#define RESIDENT (sizeof(real) == 4 ? 6 : 4)
#include "cell.h"
#include "between.h"
#include "faces.h"
#include "resistance.h"

FN int odd(Cell c) { return c.k & 1; }
FN int odd(Inner c) { return c.odd; }

// True if b, given at the low face of a fine cell, is equal on all faces between it and both coarse cells. At an end of the
// domain only one coarse cell exists.
FN bool even(const real* b, Index step, int odd, bool at_end) {
#ifdef GPU
  const real* first = odd ? b : b - step;
  return at_end | ((first[0] == first[step]) & (first[step] == first[2 * step]));
#else  // a pointer that is chosen keeps GCC from making a vector loop
  const real before = b[-step], low = b[0], high = b[step], behind = b[2 * step];
  return at_end | ((low == high) & ((odd ? behind : before) == low));
#endif
}

// p = p + the coarse correction where p is active on the fine level, interpolated along each direction as b lets it change
TASK correct_by_pairs_variable(Range range, InOut p, Foreign coarse, Foreign b_x, Foreign b_y, Foreign b_z, Mesh mesh, Mesh fine) {
  const Faces b = faces(b_x, b_y, b_z, fine);
  const Index Y = b_x.y, Z = b_x.z;
  const real half = real(0.5);
  most_cells(range, paired(mesh), CELL(c) {
    const Between x = between(c.i, half, mesh, 0), y = between(c.j, half, mesh, 1), z = along_z(c, half, mesh);
    const real linear = corrected(square(coarse, x, y, z.low), square(coarse, x, y, z.high), x, y, z);
    return p[c] + (active(c, b) ? linear : real(0));
  }, CELL(c) {
    const Index f = place(b_x, c) - b_x.field;
    const auto at_end = [&](int axis) { return at_low(c, b, axis) | at_high(c, b, axis); };
    return !(even(b.x.field + f, 1, c.i & 1, at_end(0)) & even(b.y + f, Y, c.j & 1, at_end(1)) &
             even(b.z + f, Z, odd(c), at_end(2)));
  }, CELL(c) {
    const Index f = place(b_x, c) - b_x.field;
    const Between x = between(c.i, half, mesh, 0), y = between(c.j, half, mesh, 1), z = between(c.k, half, mesh, 2);
    const Crossed on_x = crossed(x, 2, b.x.field + f, 1), on_y = crossed(y, 2, b.y + f, Y), on_z = crossed(z, 2, b.z + f, Z);
    const Square below = square(coarse, x, y, z.low), above = square(coarse, x, y, z.high);  // all loads before the first choice
    const real bent = corrected(below, above, between(x, 2, on_x), between(y, 2, on_y), between(z, 2, on_z));
    return p[c] + (active(c, b) ? bent : real(0));
  }, STORE(c, value) { p[c] = value; }, In(p), b_x, b_y, b_z);
}
