// From a level of multigrid to the next finer one, whose cells fill the same domain: `ratio` coarse cells to a fine one, per
// direction.
#define UZ 8
#define BY 2
#include "cell.h"
#include "between.h"

FN void corrected(const Range& range, const Interior& inside, InOut p, Foreign coarse, real x_ratio, real y_ratio,
                  real z_ratio, const Mesh& mesh) {
  change_cells(range, inside, CELL(c) {
    const Between x = between(c.i, x_ratio, mesh, 0), y = between(c.j, y_ratio, mesh, 1), z = along_z(c, z_ratio, mesh);
    return p[c] + (z.low_weight * mean(square(coarse, x, y, z.low), x, y) + z.high_weight * mean(square(coarse, x, y, z.high), x, y));
  }, STORE(c, value) { p[c] = value; }, In(p));
}

// p = p + the coarse correction, interpolated linearly along each direction
TASK correct_by_coarse(Range range, InOut p, Foreign coarse, Mesh mesh, Transfer transfer) {
  const real x = transfer.ratio[0], y = transfer.ratio[1], z = transfer.ratio[2], half = real(0.5);
  if (x == half && y == half && z == half) {
    corrected(range, paired(mesh), p, coarse, half, half, half, mesh);
  } else {
    corrected(range, nowhere(), p, coarse, x, y, z, mesh);
  }
}
