// The force of the fluid on a body: the momentum that the last step took from the fluid on the faces of the body, so that the
// gains of bodies, walls and fluid balance to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "push.h"

// Force on the low face of a cell across an axis, over the volume around it. Of the pressure of the last stage, of which `push`
// has nothing, a part counts.
FN Push on_face(Index c, Axis a, In p, real push, bool shut, bool here, bool before, const ForceTarget& target) {
  const double low = before ? 0.0 : double(p[c - a.step]), high = here ? 0.0 : double(p[c]);
  const double pressure = shut ? a.per_face() * (low - high) : 0.0;
  return {pressure, push - (1.0 - target.last) * pressure};
}

// forces = pressure and the rest, sums at the faces that belong to a body, and their moment, the sum of (place - about) x force
TASK force_on_body(Range range, In p, InByte solid, In push_x, In push_y, In push_z, InByte owner_x, InByte owner_y,
                   InByte owner_z, PartialOf<9> forces, Grid grid, ForceTarget target) {
  STRIDES(range)
  sum_cells(range, forces.of, CELL(c) {
    const int bits = solid[c], number = target.number;
    const bool here = target.stairs && (bits & ITSELF);
    const auto on = [&](int n, const Axis& a, In push) {
      return on_face(c, a, p, push[c], closed(bits, 2 * n), here, target.stairs && (bits & 1 << 2 * n), target);
    };
    const Push fx = on(0, axis(grid, 0, c.i, X), push_x), fy = on(1, axis(grid, 1, c.j, Y), push_y);
    const Push fz = on(2, axis(grid, 2, c.k, Z), push_z);
    const bool on_x = owner_x[c] == number, on_y = owner_y[c] == number, on_z = owner_z[c] == number;
    return pushed(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}
