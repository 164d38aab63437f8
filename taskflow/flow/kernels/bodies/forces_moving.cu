// The force of the fluid on bodies of which some move: what the last step has taken from the fluid on their faces.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "push.h"

FN Push pushed_on(Index c, Axis a, In p, In push, bool shut) {
  return {shut ? a.per_face() * (double(p[c - a.step]) - p[c]) : 0.0, double(push[c])};
}

// forces = pressure and friction, sums at the faces that belong to a body, and their moment, the sum of (place - about) x force
TASK force_on_moving_body(Range range, In p, InByte solid, In push_x, In push_y, In push_z, InByte owner_x, InByte owner_y,
                          InByte owner_z, PartialOf<9> forces, Grid grid, ForceTarget target) {
  STRIDES(range)
  sum_cells(range, forces.of, CELL(c) {
    const int bits = solid[c], number = target.number;
    const Push fx = pushed_on(c, axis(grid, 0, c.i, X), p, push_x, closed(bits, 0));
    const Push fy = pushed_on(c, axis(grid, 1, c.j, Y), p, push_y, closed(bits, 2));
    const Push fz = pushed_on(c, axis(grid, 2, c.k, Z), p, push_z, closed(bits, 4));
    const bool on_x = owner_x[c] == number, on_y = owner_y[c] == number, on_z = owner_z[c] == number;
    return pushed(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}
