// The lift of the fluid stored in a body without a temperature.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../lift.h"

// The share of a face that is in a body, which is closed, cut or neither; of stair steps none is cut
FN double covered(None, Index, bool shut) { return shut; }
FN double covered(In blockage, Index c, bool shut) { return shut ? 1.0 : blockage[c] / (1.0 + blockage[c]); }

// stored = sums of volume times lift in that share of the faces that belong to a body, and of this volume, along x, y and z
TASK stored_lift(Range range, In T, InByte solid OPTIONAL(blockage_x) OPTIONAL(blockage_y) OPTIONAL(blockage_z), InByte owner_x,
                 InByte owner_y, InByte owner_z, PartialOf<6> stored, Grid grid, Buoyancy buoyancy, int number) {
  STRIDES(range)
  sum_cells(range, stored.of, CELL(c) {
    const int bits = solid[c];
    const double wide_x = width(grid, 0, c.i), wide_y = width(grid, 1, c.j), wide_z = width(grid, 2, c.k);
    const double volume_x = distance(grid, 0, c.i) * wide_y * wide_z, volume_y = wide_x * distance(grid, 1, c.j) * wide_z;
    const double volume_z = wide_x * wide_y * distance(grid, 2, c.k);
    const double x = owner_x[c] == number ? volume_x * covered(blockage_x, c, closed(bits, 0)) : 0.0;
    const double y = owner_y[c] == number ? volume_y * covered(blockage_y, c, closed(bits, 2)) : 0.0;
    const double z = owner_z[c] == number ? volume_z * covered(blockage_z, c, closed(bits, 4)) : 0.0;
    const double lift_x = lift(buoyancy, T, c, Component{T, 0, axis(grid, 0, c.i, X)});
    const double lift_y = lift(buoyancy, T, c, Component{T, 1, axis(grid, 1, c.j, Y)});
    const double lift_z = lift(buoyancy, T, c, Component{T, 2, axis(grid, 2, c.k, Z)});
    return Sums<6>{{x * lift_x, y * lift_y, z * lift_z, x, y, z}};
  });
}
