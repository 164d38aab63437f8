// The force of the fluid on a body: the momentum that the last step has taken from the fluid on the faces that belong to it, so
// that what bodies, walls and the fluid gain adds up to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../lift.h"
#include "push.h"

// The share of a face that is in a body, which is closed, cut or neither; of stair steps none is cut
FN double covered(None, Index, bool shut) { return shut; }
FN double covered(In blockage, Index c, bool shut) { return shut ? 1.0 : blockage[c] / (1.0 + blockage[c]); }

// The lift of what is stored in that share
template <class Blockage>
FN double stored(None, None, Blockage, Index, const Component&, bool) { return 0; }
template <class Blockage>
FN double stored(const Buoyancy& buoyancy, In T, Blockage blockage, Index c, const Component& a, bool shut) {
  return covered(blockage, c, shut) * lift(buoyancy, T, c, a);
}

// Force on the low face of a cell across an axis, over the volume around it. Of the pressure of the last stage, of which `push`
// has nothing, a part counts.
FN Push on_face(Index c, Axis a, In p, real push, bool shut, bool here, bool before, double stored, const ForceTarget& target) {
  const double low = before ? 0.0 : double(p[c - a.step]), high = here ? 0.0 : double(p[c]);
  const double pressure = shut ? a.per_face() * (low - high) : 0.0;
  return {pressure, push - (1.0 - target.last) * pressure - stored};
}

// forces = pressure and the rest, sums at the faces that belong to a body, and their moment, the sum of (place - about) x force
TASK force_on_body(Range range, In p OPTIONAL(T), InByte solid OPTIONAL(blockage_x) OPTIONAL(blockage_y) OPTIONAL(blockage_z),
                   In push_x, In push_y, In push_z, InByte owner_x, InByte owner_y, InByte owner_z, PartialOf<9> forces,
                   Grid grid OPTIONAL(buoyancy), ForceTarget target) {
  STRIDES(range)
  sum_cells(range, forces.of, CELL(c) {
    const int bits = solid[c], number = target.number;
    const bool here = target.stairs && (bits & ITSELF);
    const auto on = [&](int n, const Axis& a, In push, const auto& blockage) {
      const bool shut = closed(bits, 2 * n), before = target.stairs && (bits & 1 << 2 * n);
      const double inside = stored(buoyancy, T, blockage, c, Component{push, n, a}, shut);
      return on_face(c, a, p, push[c], shut, here, before, inside, target);
    };
    const Push fx = on(0, axis(grid, 0, c.i, X), push_x, blockage_x), fy = on(1, axis(grid, 1, c.j, Y), push_y, blockage_y);
    const Push fz = on(2, axis(grid, 2, c.k, Z), push_z, blockage_z);
    const bool on_x = owner_x[c] == number, on_y = owner_y[c] == number, on_z = owner_z[c] == number;
    return pushed(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}
