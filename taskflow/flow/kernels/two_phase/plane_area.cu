// The area of an interface of planes, and the volume below them.
#include "cell.h"
#include "../flags.h"
#include "plane.h"

// total = the area of the planes in cells of fluid
TASK plane_area(Range range, In f OPTIONAL(solid), ExactPartial<1> total, Grid grid, real bound) {
  STRIDES(range)
  exact_sum_cells(range, total, bound, CELL(c) {
    const real share = f[c];
    if (!is_bent(share) || is_solid(solid, c)) return Sums<1>{{0.0}};
    const Lines a = lines(grid, c, X, Y, Z);
    const Normal m = normal(f, c, a);
    if (steepness(m) == 0) return Sums<1>{{0.0}};
    const Ordered parts = ordered(magnitude(m.x), magnitude(m.y), magnitude(m.z));
    const double x = double(m.x) * a.x.inverse, y = double(m.y) * a.y.inverse, z = double(m.z) * a.z.inverse;
    const double volume = 1 / (double(a.x.inverse) * a.y.inverse * a.z.inverse);
    return Sums<1>{{volume * ROOT(x * x + y * y + z * z) * slope_below(parts, plane_of(parts, share))}};
  });
}

// both = the volume of phase 1 in cells of fluid, and their own
TASK volume_of_shares(Range range, In f OPTIONAL(solid), ExactPartial<2> both, Grid grid, real bound) {
  STRIDES(range)
  exact_sum_cells(range, both, Sums<2>{{bound, bound}}, CELL(c) {
    if (is_solid(solid, c)) return Sums<2>{{0.0, 0.0}};
    const Lines a = lines(grid, c, X, Y, Z);
    const double volume = 1 / (double(a.x.inverse) * a.y.inverse * a.z.inverse);
    return Sums<2>{{volume * double(f[c]), volume}};
  });
}
