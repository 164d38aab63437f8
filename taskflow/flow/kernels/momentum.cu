// Momentum of a Boussinesq fluid on the MAC grid: central differences of second order, Adams-Bashforth in time.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 1
#define PLANES 1
#include "cell.h"
#include "momentum.h"

// A force per mass that is the same everywhere.
struct Uniform {
  Fluid fluid;
  INLINE real added(real H, int axis, Index, Index) const { return H + fluid.force[axis]; }
};

// And -expansion (T - reference) gravity, T being the mean of the cells on both sides of the face.
struct Buoyant {
  Fluid fluid;
  Buoyancy buoyancy;
  In T;

  INLINE real added(real H, int axis, Index c, Index step) const {
    const real warmth = T[c] - 2 * buoyancy.reference, lift = real(-0.5) * buoyancy.expansion;
    return H + fluid.force[axis] + lift * (T[c - step] + warmth) * buoyancy.gravity[axis];
  }
};

// The velocity, and the tendency of the stage before, which becomes that of this one.
struct Motion {
  In u, v, w;
  InOut h_u, h_v, h_w;
  Out u_new, v_new, w_new;
};

// u* = u + dt ((1 + r/2) H - r/2 H_old), H = -div(u u) + friction + force; H replaces H_old. `more` are the fields that
// friction and force read.
template <class Friction, class Force, class... More>
FN void advance(const Range& range, Motion m, In64 dt, In64 ratio, const Grid& grid, Friction friction, Force force,
                More... more) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const real H_u = force.added(tendency(m.u, m.v, m.w, c, x, y, z, friction), 0, c, X);
    const real H_v = force.added(tendency(m.v, m.u, m.w, c, y, x, z, friction), 1, c, Y);
    const real H_w = force.added(tendency(m.w, m.u, m.v, c, z, x, y, friction), 2, c, Z);
    const Next u = predicted(m.u, m.h_u, c, c.i == grid.first[0], H_u, scheme);
    const Next v = predicted(m.v, m.h_v, c, c.j == grid.first[1], H_v, scheme);
    const Next w = predicted(m.w, m.h_w, c, c.k == grid.first[2], H_w, scheme);
    store(c, u, v, w, m.h_u, m.h_v, m.h_w, m.u_new, m.v_new, m.w_new);
  }, In(m.h_u), In(m.h_v), In(m.h_w), m.u + Z, m.v + Z, m.w + Z, more + Z...);
}

TASK momentum(Range range, In u, In v, In w, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new, In64 dt,
              In64 ratio, Grid grid, Fluid fluid) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  advance(range, motion, dt, ratio, grid, Molecular{fluid.viscosity}, Uniform{fluid});
}

TASK momentum_buoyant(Range range, In u, In v, In w, In T, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                      In64 dt, In64 ratio, Grid grid, Fluid fluid, Buoyancy buoyancy) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  advance(range, motion, dt, ratio, grid, Molecular{fluid.viscosity}, Buoyant{fluid, buoyancy, T}, T);
}

TASK momentum_eddy(Range range, In u, In v, In w, In nu_t, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                   In64 dt, In64 ratio, Grid grid, Fluid fluid) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  advance(range, motion, dt, ratio, grid, Turbulent{fluid.viscosity, nu_t}, Uniform{fluid}, nu_t);
}

TASK momentum_eddy_buoyant(Range range, In u, In v, In w, In nu_t, In T, InOut h_u, InOut h_v, InOut h_w, Out u_new,
                           Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid, Buoyancy buoyancy) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  advance(range, motion, dt, ratio, grid, Turbulent{fluid.viscosity, nu_t}, Buoyant{fluid, buoyancy, T}, nu_t, T);
}
