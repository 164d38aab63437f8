// What the fluid does to a body: the momentum and the heat that pass through its faces in the scheme itself, so that what
// bodies, walls and the fluid gain adds up to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "push.h"

// What comes to a closed face (low across a) from its neighbours along b, over viscosity: those in the fluid next to a
// buried face are half as far from the body
FN double drawn(In q, Index c, Index b, bool buried) { return (buried ? 2.0 : 1.0) * (double(q[c - b]) + q[c + b]); }

// What eddies bring to a closed face along its normal: from its cell in the fluid, as in solid ones nu_t is 0
struct NoEddies {
  INLINE double brought(In, Index, Step) const { return 0; }
};
struct Eddies {
  In nu_t;
  INLINE double brought(In q, Index c, Step a) const {
    return 2 * a.inverse * a.inverse * (double(nu_t[c]) * q[c + a.cells] + double(nu_t[c - a.cells]) * q[c - a.cells]);
  }
};

// Force on a closed face, over the volume of a cell. It stands still itself: all that the scheme brings there is a force.
template <class Eddies>
FN Push push(In q, In r, In s, In p, Index c, Step a, Step b, Step d, bool solid, bool solid_before, double viscosity,
             const Eddies& eddies) {
  const Index A = a.cells, B = b.cells, D = d.cells;
  const bool buried = solid & solid_before;
  const double along = double(q[c - A]) + q[c + A];
  const double laplacian = a.inverse * a.inverse * along + b.inverse * b.inverse * drawn(q, c, B, buried) +
                           d.inverse * d.inverse * drawn(q, c, D, buried);
  const double before = solid_before ? 0.0 : double(p[c - A]), behind = solid ? 0.0 : double(p[c]);
  const double viscous = viscosity * laplacian + eddies.brought(q, c, a);
  return {a.inverse * (before - behind), viscous - 0.25 * carried_off(q, r, s, c, a, b, d)};
}

struct Bodies {
  InByte solid, owner_x, owner_y, owner_z;
};

// pressure_.. and friction_.. = sums of the forces over the faces that belong to a body; moment_.. = sum of (place -
// about) x force
template <class Eddies>
FN void sum_forces(const Range& range, In u, In v, In w, In p, Bodies bodies, const Partial (&sums)[9], const Grid& grid,
                   Fluid fluid, Target target, Eddies eddies) {
  STRIDES(range)
  const Step x{X, grid.inverse[0]}, y{Y, grid.inverse[1]}, z{Z, grid.inverse[2]};
  const double nu = fluid.viscosity;
  sum_cells(range, sums, CELL(c) {
    const int bits = bodies.solid[c], number = target.number;
    const bool here = bits & ITSELF;
    const Push fx = push(u, v, w, p, c, x, y, z, here, bits & 1, nu, eddies);
    const Push fy = push(v, u, w, p, c, y, x, z, here, bits & 4, nu, eddies);
    const Push fz = push(w, u, v, p, c, z, x, y, here, bits & 16, nu, eddies);
    const bool on_x = bodies.owner_x[c] == number, on_y = bodies.owner_y[c] == number, on_z = bodies.owner_z[c] == number;
    return forces(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}

#define SUMS {pressure_x, pressure_y, pressure_z, friction_x, friction_y, friction_z, moment_x, moment_y, moment_z}

TASK force_on_body(Range range, In u, In v, In w, In p, InByte solid, InByte owner_x, InByte owner_y, InByte owner_z,
                   Partial pressure_x, Partial pressure_y, Partial pressure_z, Partial friction_x, Partial friction_y,
                   Partial friction_z, Partial moment_x, Partial moment_y, Partial moment_z, Grid grid, Fluid fluid,
                   Target target) {
  sum_forces(range, u, v, w, p, {solid, owner_x, owner_y, owner_z}, SUMS, grid, fluid, target, NoEddies{});
}

TASK force_of_eddies(Range range, In u, In v, In w, In p, In nu_t, InByte solid, InByte owner_x, InByte owner_y,
                     InByte owner_z, Partial pressure_x, Partial pressure_y, Partial pressure_z, Partial friction_x,
                     Partial friction_y, Partial friction_z, Partial moment_x, Partial moment_y, Partial moment_z, Grid grid,
                     Fluid fluid, Target target) {
  sum_forces(range, u, v, w, p, {solid, owner_x, owner_y, owner_z}, SUMS, grid, fluid, target, Eddies{nu_t});
}

// Heat per area from a body into the fluid through the closed face between two cells; 0 where both are solid
FN double warmed(In T, Index c, Index step, bool solid, bool solid_before, double conductance) {
  const double rise = double(T[c - step]) - T[c];
  return (solid == solid_before ? 0.0 : 2.0 * conductance) * (solid ? -rise : rise);
}

// flux = sum over the faces that belong to a body of 2 diffusivity (T_body - T) / h times their area
TASK heat_from_body(Range range, In T, InByte solid, InByte owner_x, InByte owner_y, InByte owner_z, Partial flux, Grid grid,
                    Transport transport, int number) {
  STRIDES(range)
  const double volume = double(grid.spacing[0]) * grid.spacing[1] * grid.spacing[2];
  const double x = volume * transport.diffusivity * grid.inverse[0] * grid.inverse[0];
  const double y = volume * transport.diffusivity * grid.inverse[1] * grid.inverse[1];
  const double z = volume * transport.diffusivity * grid.inverse[2] * grid.inverse[2];
  reduce_cells(range, flux, SUM, CELL(c) {
    const int bits = solid[c];
    const bool here = bits & ITSELF;
    const double from_x = warmed(T, c, X, here, bits & 1, x), from_y = warmed(T, c, Y, here, bits & 4, y);
    const double from_z = warmed(T, c, Z, here, bits & 16, z);
    return ((owner_x[c] == number) & (c.i != grid.first[0]) ? from_x : 0.0) +
           ((owner_y[c] == number) & (c.j != grid.first[1]) ? from_y : 0.0) +
           ((owner_z[c] == number) & (c.k != grid.first[2]) ? from_z : 0.0);
  });
}
