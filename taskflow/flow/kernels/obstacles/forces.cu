// What the fluid does to a body: the momentum and the heat that pass through its faces in the scheme itself, so that what
// bodies, walls and the fluid gain adds up to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"

// A direction: from a cell to the next, and one over their distance.
struct Step {
  Index cells;
  double inverse;
};

// What comes to a closed face (low across a) from its neighbours along b, over viscosity: those in the fluid next to a
// buried face are half as far from the body
FN double drawn(In q, Index c, Index b, bool buried) { return (buried ? 2.0 : 1.0) * (double(q[c - b]) + q[c + b]); }

struct Push {
  double pressure, friction;
};

// Force on a closed face, over the volume of a cell. It stands still itself: all that the scheme brings there is a force.
FN Push push(In q, In r, In s, In p, Index c, Step a, Step b, Step d, bool solid, bool solid_before, double viscosity) {
  const Index A = a.cells, B = b.cells, D = d.cells;
  const double a_low = q[c - A], a_high = q[c + A], b_low = q[c - B], b_high = q[c + B], d_low = q[c - D], d_high = q[c + D];
  const double convection = a.inverse * (a_high * a_high - a_low * a_low) +
                            b.inverse * ((double(r[c - A + B]) + r[c + B]) * b_high - (double(r[c - A]) + r[c]) * b_low) +
                            d.inverse * ((double(s[c - A + D]) + s[c + D]) * d_high - (double(s[c - A]) + s[c]) * d_low);
  const bool buried = solid & solid_before;
  const double laplacian = a.inverse * a.inverse * (a_low + a_high) + b.inverse * b.inverse * drawn(q, c, B, buried) +
                           d.inverse * d.inverse * drawn(q, c, D, buried);
  const double before = solid_before ? 0.0 : double(p[c - A]), behind = solid ? 0.0 : double(p[c]);
  return {a.inverse * (before - behind), viscosity * laplacian - 0.25 * convection};
}

// pressure_.. and friction_.. = sums of the forces over the faces that belong to a body; moment_.. = sum of (place -
// about) x force
TASK force_on_body(Range range, In u, In v, In w, In p, InByte solid, InByte owner_x, InByte owner_y, InByte owner_z,
                   Partial pressure_x, Partial pressure_y, Partial pressure_z, Partial friction_x, Partial friction_y,
                   Partial friction_z, Partial moment_x, Partial moment_y, Partial moment_z, Grid grid, Fluid fluid,
                   Target target) {
  STRIDES(range)
  const Step x{X, grid.inverse[0]}, y{Y, grid.inverse[1]}, z{Z, grid.inverse[2]};
  const double volume = double(grid.spacing[0]) * grid.spacing[1] * grid.spacing[2], nu = fluid.viscosity;
  sum_cells(range, {pressure_x, pressure_y, pressure_z, friction_x, friction_y, friction_z, moment_x, moment_y, moment_z},
            CELL(c) {
    const int bits = solid[c], number = target.number;
    const bool here = bits & ITSELF;
    const Push fx = push(u, v, w, p, c, x, y, z, here, bits & 1, nu), fy = push(v, u, w, p, c, y, x, z, here, bits & 4, nu);
    const Push fz = push(w, u, v, p, c, z, x, y, here, bits & 16, nu);
    const double on_x = (owner_x[c] == number) & (c.i != grid.first[0]) ? volume : 0.0;
    const double on_y = (owner_y[c] == number) & (c.j != grid.first[1]) ? volume : 0.0;
    const double on_z = (owner_z[c] == number) & (c.k != grid.first[2]) ? volume : 0.0;
    const double px = on_x * fx.pressure, py = on_y * fy.pressure, pz = on_z * fz.pressure;
    const double qx = on_x * fx.friction, qy = on_y * fy.friction, qz = on_z * fz.friction;
    const double tx = px + qx, ty = py + qy, tz = pz + qz;
    // from the point to the cell's centre: across its own direction a force has no moment
    const double i = (c.i + 0.5) * double(grid.spacing[0]) - target.about[0];
    const double j = (c.j + 0.5) * double(grid.spacing[1]) - target.about[1];
    const double k = (c.k + 0.5) * double(grid.spacing[2]) - target.about[2];
    return Sums<9>{{px, py, pz, qx, qy, qz, j * tz - k * ty, k * tx - i * tz, i * ty - j * tx}};
  });
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
