// The force of the fluid on an immersed body: the momentum that the scheme takes from the fluid there, so that what bodies,
// walls and the fluid gain adds up to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../friction.h"
#include "../convection.h"
#include "../flags.h"
#include "push.h"
#include "surfaces.h"

// Force at the low face across a of a cell: on a closed one, which stands still, all that the scheme brings there; on a cut
// one the friction that it loses to the surface.
template <class Friction>
FN Push push(const Component& u, const Component& v, const Component& w, In p, const Surface& at, const Way& a,
             const Way& b, const Way& d, const Cell& c, bool shut, const Convection& convection, const Friction& friction) {
  const double viscous = friction.at(c, u, v, w) + friction.viscosity * at.brought(c, a, b, d);
  const double lost = friction.viscosity * double(at.friction[c]) * (double(u.q[c]) + at.missing(c));
  const double brought = viscous - advection(convection, c, u, v, w);
  return {shut ? u.axis.per_face() * (double(p[c - u.axis.step]) - p[c]) : 0.0, shut ? brought : lost};
}

// forces = pressure and friction, sums at the faces that belong to a body, and their moment, the sum of (place - about) x force
TASK force_on_immersed_body(Range range, In u, In v, In w, In p OPTIONAL(nu_t) OPTIONAL(edges), InByte solid, In friction_x,
                            In friction_y, In friction_z, In blockage_x, In blockage_y, In blockage_z, InByte owner_x,
                            InByte owner_y, InByte owner_z, PartialOf<9> forces, Grid grid, Fluid fluid, ForceTarget target) {
  STRIDES(range)
  const Convection convection(grid);
  const auto friction = stress(fluid.viscosity, nu_t, edges);
  const Surface at_x{u, friction_x, blockage_x}, at_y{v, friction_y, blockage_y}, at_z{w, friction_z, blockage_z};
  sum_cells(range, forces.of, CELL(c) {
    const Way x = way(grid, 0, c.i, X), y = way(grid, 1, c.j, Y), z = way(grid, 2, c.k, Z);
    const Component of_x{u, 0, x.axis}, of_y{v, 1, y.axis}, of_z{w, 2, z.axis};
    const int bits = solid[c], number = target.number;
    const Push fx = push(of_x, of_y, of_z, p, at_x, x, y, z, c, closed(bits, 0), convection, friction);
    const Push fy = push(of_y, of_x, of_z, p, at_y, y, x, z, c, closed(bits, 2), convection, friction);
    const Push fz = push(of_z, of_x, of_y, p, at_z, z, x, y, c, closed(bits, 4), convection, friction);
    const bool on_x = owner_x[c] == number, on_y = owner_y[c] == number, on_z = owner_z[c] == number;
    return pushed(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}
