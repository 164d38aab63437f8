// What the fluid does to an immersed body: the momentum and the heat that the scheme takes from the fluid there, so that
// what bodies, walls and the fluid gain adds up to rounding.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../scalars/diffusivity.h"
#include "../scalars/limited.h"
#include "carried.h"
#include "push.h"
#include "surfaces.h"

// Where bodies are, and whose
struct Bodies {
  InByte solid;
  In stick_x, stick_y, stick_z;
  In cover_x, cover_y, cover_z;
  InByte owner_x, owner_y, owner_z;
};

// Force at the low face across a of a cell: on a closed one, which stands still, all that the scheme brings there; on a cut
// one the friction that it loses to the surface.
template <class Friction>
FN Push push(const Component& u, const Component& v, const Component& w, In p, const Surface& at, const Way& a,
             const Way& b, const Way& d, const Cell& c, bool shut, const Convection& convection, const Friction& friction) {
  const double viscous = friction.at(c, u, v, w) + friction.viscosity * at.brought(c, a, b, d);
  const double lost = friction.viscosity * double(at.stick[c]) * (double(u.q[c]) + at.missing(c));
  const double brought = viscous - 0.25 * outflow(convection, c, u, v, w);
  return {shut ? u.axis.per_face() * (double(p[c - u.axis.step]) - p[c]) : 0.0, shut ? brought : lost};
}

// pressure_.. and friction_.. = sums of the forces at the faces that belong to a body; moment_.. = sum of (place -
// about) x force
template <class Friction>
FN void sum_forces(const Range& range, In u, In v, In w, In p, Bodies bodies, const Partial (&sums)[9], const Grid& grid,
                   Target target, Friction friction) {
  STRIDES(range)
  const Convection convection(grid);
  const Surface at_x{u, bodies.stick_x, bodies.cover_x}, at_y{v, bodies.stick_y, bodies.cover_y};
  const Surface at_z{w, bodies.stick_z, bodies.cover_z};
  sum_cells(range, sums, CELL(c) {
    const Way x = way(grid, 0, c.i, X), y = way(grid, 1, c.j, Y), z = way(grid, 2, c.k, Z);
    const Component of_x{u, 0, x.axis}, of_y{v, 1, y.axis}, of_z{w, 2, z.axis};
    const int bits = bodies.solid[c], number = target.number;
    const Push fx = push(of_x, of_y, of_z, p, at_x, x, y, z, c, closed(bits, 0), convection, friction);
    const Push fy = push(of_y, of_x, of_z, p, at_y, y, x, z, c, closed(bits, 2), convection, friction);
    const Push fz = push(of_z, of_x, of_y, p, at_z, z, x, y, c, closed(bits, 4), convection, friction);
    const bool on_x = bodies.owner_x[c] == number, on_y = bodies.owner_y[c] == number, on_z = bodies.owner_z[c] == number;
    return forces(c, fx, fy, fz, on_x, on_y, on_z, grid, target);
  });
}

#define SUMS {pressure_x, pressure_y, pressure_z, friction_x, friction_y, friction_z, moment_x, moment_y, moment_z}

TASK force_on_immersed_body(Range range, In u, In v, In w, In p, InByte solid, In stick_x, In stick_y, In stick_z,
                            In cover_x, In cover_y, In cover_z, InByte owner_x, InByte owner_y, InByte owner_z,
                            Partial pressure_x, Partial pressure_y, Partial pressure_z, Partial friction_x,
                            Partial friction_y, Partial friction_z, Partial moment_x, Partial moment_y, Partial moment_z,
                            Grid grid, Fluid fluid, Target target) {
  const Bodies bodies{solid, stick_x, stick_y, stick_z, cover_x, cover_y, cover_z, owner_x, owner_y, owner_z};
  sum_forces(range, u, v, w, p, bodies, SUMS, grid, target, Molecular{fluid.viscosity});
}

TASK force_of_eddies_on_immersed_body(Range range, In u, In v, In w, In p, In nu_t, InShort edges, InByte solid, In stick_x,
                                      In stick_y, In stick_z, In cover_x, In cover_y, In cover_z, InByte owner_x,
                                      InByte owner_y, InByte owner_z, Partial pressure_x, Partial pressure_y,
                                      Partial pressure_z, Partial friction_x, Partial friction_y, Partial friction_z,
                                      Partial moment_x, Partial moment_y, Partial moment_z, Grid grid, Fluid fluid,
                                      Target target) {
  const Bodies bodies{solid, stick_x, stick_y, stick_z, cover_x, cover_y, cover_z, owner_x, owner_y, owner_z};
  sum_forces(range, u, v, w, p, bodies, SUMS, grid, target, TurbulentBeside{fluid.viscosity, nu_t, {edges}});
}

// Net flow of T out of cell number n along one direction by q, by central differences or with values within bounds
struct CentralMean {
  INLINE static real out(In T, In q, Index c, int, int, const Grid&, Axis a) {
    return carried(T, q, c, a.step, a.per_cell());
  }
};
struct Limited {
  INLINE static real out(In T, In q, Index c, int n, int number, const Grid& grid, Axis a) {
    const Direction d{number, a.step, grid.first[number], grid.last[number], q, q};
    const auto by = [&](Index at, int m) { return passing(T, at, m, d, a.per_face(), Even{0}, 0); };
    return a.per_cell() * (by(c + a.step, n + 1) - by(c, n));
  }
};

// flux = volume times the sum over the cells that belong to a body of diffusivity (warm - bond T), or, of cells that are
// held, of what the flow carries out of them
template <class Values>
FN void heat_from(const Range& range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In bond_T, In warm_T,
                  Partial flux, const Grid& grid, real diffusivity, int number) {
  STRIDES(range)
  reduce_cells(range, flux, SUM, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const double volume = double(width(grid, 0, c.i)) * width(grid, 1, c.j) * width(grid, 2, c.k);
    const double flow = double(Values::out(T, u, c, c.i, 0, grid, x)) + Values::out(T, v, c, c.j, 1, grid, y) +
                        Values::out(T, w, c, c.k, 2, grid, z);
    const double conducted = diffusivity * (double(warm_T[c]) - double(bond_T[c]) * T[c]);
    return owner_T[c] == number ? volume * (T_faces[c] & KEEPS ? flow : conducted) : 0.0;
  });
}

TASK heat_from_immersed_body(Range range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In bond_T, In warm_T,
                             Partial flux, Grid grid, Transport transport, int number) {
  heat_from<CentralMean>(range, T, u, v, w, T_faces, owner_T, bond_T, warm_T, flux, grid, transport.diffusivity, number);
}

TASK bounded_heat_from_immersed_body(Range range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In bond_T,
                                     In warm_T, Partial flux, Grid grid, Transport transport, int number) {
  heat_from<Limited>(range, T, u, v, w, T_faces, owner_T, bond_T, warm_T, flux, grid, transport.diffusivity, number);
}
