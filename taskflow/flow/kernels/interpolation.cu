// From a level of multigrid to the next finer one, whose cells fill the same domain: `ratio` coarse cells to a fine one, per
// direction.
#define UZ 4
#define BY 2
#include "cell.h"
#include "mesh.h"

FN int floored(real x) { return int(x + 1) - 1; }  // for x >= -1

// Along one direction: the two coarse cells between whose centres that of a fine one lies, and their weights. Beyond a face
// of the domain stands the last cell inside, mirrored.
struct Between {
  int low, high;
  real low_weight, high_weight;
};

FN Between between(int fine, real ratio, const Mesh& m, int axis) {
  const real x = (fine + real(0.5)) * ratio - real(0.5);
  const bool halved = ratio == real(0.5);  // then the same without a conversion
  const int low = halved ? (fine + 1) / 2 - 1 : floored(x), high = low + 1;
  const real part = halved ? (fine & 1 ? real(0.25) : real(0.75)) : x - low;
  const bool before = low < m.first[axis], behind = m.last[axis] < high;
  return {before ? m.first[axis] : low, behind ? m.last[axis] : high, (1 - part) * (before ? m.low[axis] : real(1)),
          part * (behind ? m.high[axis] : real(1))};
}

FN real along_x(const Foreign& q, const Between& x, int j, int k) {
  return x.low_weight * at(q, x.low, j, k) + x.high_weight * at(q, x.high, j, k);
}

// p = p + the coarse correction, interpolated linearly along each direction
TASK correct_by_coarse(Range range, InOut p, Foreign coarse, Mesh mesh, Transfer transfer) {
  for_cells(range, CELL(c) {
    const Between x = between(c.i, transfer.ratio[0], mesh, 0);
    const Between y = between(c.j, transfer.ratio[1], mesh, 1), z = between(c.k, transfer.ratio[2], mesh, 2);
    const real below = y.low_weight * along_x(coarse, x, y.low, z.low) + y.high_weight * along_x(coarse, x, y.high, z.low);
    const real above = y.low_weight * along_x(coarse, x, y.low, z.high) + y.high_weight * along_x(coarse, x, y.high, z.high);
    p[c] += z.low_weight * below + z.high_weight * above;
  });
}
