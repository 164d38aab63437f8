// The force of two phases on a body: the momentum that reaches its faces, which stand still, in the scheme itself.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../bodies/push.h"
#include "../flags.h"
#include "friction.h"
#include "transport.h"

// Force on a closed face, over the volume around it. The pressure there is that of the cell in the fluid, and the weight of the
// half cell between: bodies at rest feel the weight of the fluid that they displace, not of half a cell more on either side.
FN Push push(const Cell& c, const Carried& a, const Carried& b, const Carried& d, const Friction& friction, In p, bool solid,
             bool solid_before) {
  const Axis x = a.now.axis;
  const double fall = 0.5 * friction.phases.gravity[a.now.number] / x.per_face();
  const auto pressure = [&](Index at, double sign) { return p[at] + sign * fall * density(friction.phases, friction.f[at]); };
  const double before = solid_before ? 0.0 : pressure(c - x.step, 1), behind = solid ? 0.0 : pressure(c, -1);
  const int walls = solid & solid_before ? 15 : 0;  // then all neighbours in the fluid are half a cell away
  const double viscous = friction.at(c, a.now, b.now, d.now, walls);
  return {x.per_face() * (before - behind), viscous - double(outflow(Middle{0}, c, a, b, d).momentum)};
}

// forces = pressure and friction, sums over the faces that belong to a body, and their moment, the sum of (place - about) x force
TASK force_of_phases(Range range, In u, In v, In w, In m_x, In m_y, In m_z, In f, In p, InByte solid, InByte owner_x,
                     InByte owner_y, InByte owner_z, PartialOf<9> forces, Grid grid, Phases phases, ForceTarget target) {
  STRIDES(range)
  const Friction friction{phases, f};
  sum_cells(range, forces.of, CELL(c) {
    const Carried U{{u, 0, axis(grid, 0, c.i, X)}, u, m_x, grid.first[0], grid.last[0]};
    const Carried V{{v, 1, axis(grid, 1, c.j, Y)}, v, m_y, grid.first[1], grid.last[1]};
    const Carried W{{w, 2, axis(grid, 2, c.k, Z)}, w, m_z, grid.first[2], grid.last[2]};
    const int bits = solid[c], number = target.number;
    const bool here = bits & ITSELF;
    const Push x = push(c, U, V, W, friction, p, here, bits & 1), y = push(c, V, U, W, friction, p, here, bits & 4);
    const Push z = push(c, W, U, V, friction, p, here, bits & 16);
    const bool on_x = owner_x[c] == number, on_y = owner_y[c] == number, on_z = owner_z[c] == number;
    return pushed(c, x, y, z, on_x, on_y, on_z, grid, target);
  });
}
