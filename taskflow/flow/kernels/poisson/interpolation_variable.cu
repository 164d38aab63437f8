// From a level of multigrid to the next finer one, where coefficients are variable: `ratio` coarse cells to a fine one, per
// direction.
#define UZ 8
#define UNROLL 1
#define BY 2
#define RESIDENT (sizeof(real) == 4 ? 4 : 2)
#include "cell.h"
#include "between.h"
#include "faces.h"

// The resistance of a way from the centre of a fine cell to that of a coarse one, over / under: its length over b, `near` on
// the first face that it crosses and `far` on the second. A closed face is as one with very little b.
struct Way {
  real over, under;
};

FN Way way(real length, real near, real far) {
  const real first = length > 1 ? real(1) : length, second = length - first;
  return {first * far + second * near, near * far};
}

// `between` where b changes: p falls along both ways as a flux through all of it has it fall. b is at the low face of the
// fine cell, b[step] at its high one.
FN Between between(int fine, const Transfer& transfer, const Mesh& m, int axis, const real* b, Index step) {
  const Between plain = between(fine, transfer.ratio[axis], m, axis);
  if (plain.low + 1 != plain.high) return plain;
  const real length = transfer.length[axis], to_low = plain.high_weight * length, to_high = plain.low_weight * length;
  const real below = b[0], above = b[step];
  const real before = to_low > 1 ? b[-step] : below, behind = to_high > 1 ? b[2 * step] : above;
  if (below == above && below == before && above == behind) return plain;
  const real little = real(1e-6) * ((below + above) + (before + behind));
  const Way low = way(to_low, below + little, before + little), high = way(to_high, above + little, behind + little);
  const real down = low.over * high.under, total = down + high.over * low.under;
  const real part = total > 0 ? down / total : plain.high_weight;
  return {plain.low, plain.high, 1 - part, part};
}

// p = p + the coarse correction where p is sought on the fine level, interpolated along each direction as b lets it change
TASK correct_by_coarse_variable(Range range, InOut p, Foreign coarse, Foreign b_x, Foreign b_y, Foreign b_z, Mesh mesh, Mesh fine,
                                Transfer transfer) {
  const Faces b = faces(b_x, b_y, b_z, fine);
  const Index Y = b_x.y, Z = b_x.z;
  for_cells(range, interior(fine), CELL(c) {
    const Index f = place(b_x, c) - b_x.field;
    const Between x = between(c.i, transfer, mesh, 0, b.x.field + f, 1);
    const Between y = between(c.j, transfer, mesh, 1, b.y + f, Y);
    const Between z = between(c.k, transfer, mesh, 2, b.z + f, Z);
    const real correction = z.low_weight * in_plane(coarse, x, y, z.low) + z.high_weight * in_plane(coarse, x, y, z.high);
    p[c] += sought(c, b) ? correction : real(0);
  });
}
