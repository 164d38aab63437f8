// The force of the fluid on a body: the momentum that passes through its faces in the scheme itself, so that what bodies, walls
// and the fluid gain adds up to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../friction.h"
#include "../convection.h"
#include "../flags.h"
#include "push.h"

// What comes to a closed face (low across a) from its neighbours along b, over viscosity: those in the fluid next to a
// face between two solid cells are half their width from the body
FN double drawn(In q, Index c, Axis b, bool solid_face) {
  const double low = solid_face ? 2.0 * b.per_cell(-1) : double(b.per_face(0));
  const double high = solid_face ? 2.0 * b.per_cell(1) : double(b.per_face(1));
  return b.per_cell() * (low * q[c - b.step] + high * q[c + b.step]);
}

// What eddies bring to a closed face along its normal: from its cell in the fluid, as in solid ones nu_t is 0
struct NoEddies {
  INLINE double brought(In, Index, Axis) const { return 0; }
};
struct Eddies {
  In nu_t;
  INLINE double brought(In q, Index c, Axis a) const {
    const double low = a.per_cell(-1) * double(nu_t[c - a.step]), high = a.per_cell() * double(nu_t[c]);
    return 2 * a.per_face() * (high * q[c + a.step] + low * q[c - a.step]);
  }
};

FN NoEddies eddies_of(None) { return {}; }
FN Eddies eddies_of(In nu_t) { return {nu_t}; }

// Force on a closed face, over the volume around it. It stands still itself: all that the scheme brings there is a force.
template <class Eddies>
FN Push push(const Component& u, const Component& v, const Component& w, In p, const Cell& c, bool solid, bool solid_before,
             double viscosity, const Convection& convection, const Eddies& eddies) {
  const Axis a = u.axis;
  const In q = u.q;
  const Index A = a.step;
  const bool solid_face = solid & solid_before;
  const double along = a.per_face() * (a.per_cell(-1) * double(q[c - A]) + a.per_cell() * double(q[c + A]));
  const double laplacian = along + drawn(q, c, v.axis, solid_face) + drawn(q, c, w.axis, solid_face);
  const double before = solid_before ? 0.0 : double(p[c - A]), behind = solid ? 0.0 : double(p[c]);
  const double viscous = viscosity * laplacian + eddies.brought(q, c, a);
  return {a.per_face() * (before - behind), viscous - advection(convection, c, u, v, w)};
}

// forces = pressure and friction, sums over the faces that belong to a body, and their moment, the sum of (place - about) x force
TASK force_on_body(Range range, In u, In v, In w, In p OPTIONAL(nu_t), InByte solid, InByte owner_x, InByte owner_y,
                   InByte owner_z, PartialOf<9> forces, Grid grid, Fluid fluid, ForceTarget target) {
  STRIDES(range)
  const double nu = fluid.viscosity;
  const Convection convection(grid);
  const auto eddies = eddies_of(nu_t);
  sum_cells(range, forces.of, CELL(c) {
    const Component of_x{u, 0, axis(grid, 0, c.i, X)}, of_y{v, 1, axis(grid, 1, c.j, Y)}, of_z{w, 2, axis(grid, 2, c.k, Z)};
    const int bits = solid[c], number = target.number;
    const bool here = bits & ITSELF;
    const Push fx = push(of_x, of_y, of_z, p, c, here, bits & 1, nu, convection, eddies);
    const Push fy = push(of_y, of_x, of_z, p, c, here, bits & 4, nu, convection, eddies);
    const Push fz = push(of_z, of_x, of_y, p, c, here, bits & 16, nu, convection, eddies);
    const bool on_x = owner_x[c] == number, on_y = owner_y[c] == number, on_z = owner_z[c] == number;
    return pushed(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}
