// Momentum of a Boussinesq fluid on the MAC grid: second order in space, Adams-Bashforth in time.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 1
#define PLANES 1
#include "cell.h"
#include "momentum.h"

template <class Friction, class Force>
using Free = Terms<Convection, Friction, Force, NoBodies>;

TASK momentum(Range range, In u, In v, In w, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new, In64 dt,
              In64 ratio, Grid grid, Fluid fluid) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  advance(range, motion, dt, ratio, grid, Free<Molecular, Uniform>{Convection(grid), {fluid.viscosity}, {fluid}, {}});
}

TASK momentum_buoyant(Range range, In u, In v, In w, In T, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                      In64 dt, In64 ratio, Grid grid, Fluid fluid, Buoyancy buoyancy) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const Free<Molecular, Buoyant> terms{Convection(grid), {fluid.viscosity}, {fluid, buoyancy, T}, {}};
  advance(range, motion, dt, ratio, grid, terms, T);
}

TASK momentum_eddy(Range range, In u, In v, In w, In nu_t, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                   In64 dt, In64 ratio, Grid grid, Fluid fluid) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const Free<Turbulent, Uniform> terms{Convection(grid), {fluid.viscosity, nu_t, {}}, {fluid}, {}};
  advance(range, motion, dt, ratio, grid, terms, nu_t);
}

TASK momentum_eddy_buoyant(Range range, In u, In v, In w, In nu_t, In T, InOut h_u, InOut h_v, InOut h_w, Out u_new,
                           Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid, Buoyancy buoyancy) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const Free<Turbulent, Buoyant> terms{Convection(grid), {fluid.viscosity, nu_t, {}}, {fluid, buoyancy, T}, {}};
  advance(range, motion, dt, ratio, grid, terms, nu_t, T);
}
