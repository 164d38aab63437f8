// Momentum beside bodies: as in momentum.cu, but faces of solid cells keep their velocity, and those with buried
// neighbours are slowed down by them.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 1
#define PLANES 1
#include "cell.h"
#include "../momentum.h"
#include "../flags.h"

// What neighbours of a face along one direction that are buried, and hold 0, take of its Laplacian more than that: as they
// stand for a wall half a cell away
FN real sticking(int buried, Axis b) {
  return (buried & 1 ? b.outer_at_wall(0) : real(0)) + (buried & 2 ? b.outer_at_wall(1) : real(0));
}

// The faces of a cell: which of them are closed, and what buried neighbours take of H.
struct Beside {
  int faces;
  real viscosity;

  INLINE bool closed(int axis) const { return (faces & CLOSED << axis) != 0; }
  INLINE real slowed(real H, Index c, const Component& u, const Component& v, const Component& w) const {
    const int buried = faces >> (4 * u.number);
    return H - viscosity * ((sticking(buried, v.axis) + sticking(buried >> 2, w.axis)) * u.q[c]);
  }
};

struct Bodies {
  InShort faces;
  real viscosity;
  INLINE Beside at(Index c) const { return {faces[c], viscosity}; }
};

template <class Friction, class Force>
using Obstructed = Terms<Convection, Friction, Force, Bodies>;

TASK momentum_obstructed(Range range, In u, In v, In w, InShort faces, InOut h_u, InOut h_v, InOut h_w, Out u_new,
                         Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const real nu = fluid.viscosity;
  advance(range, motion, dt, ratio, grid, Obstructed<Molecular, Uniform>{Convection(grid), {nu}, {fluid}, {faces, nu}});
}

TASK momentum_buoyant_obstructed(Range range, In u, In v, In w, In T, InShort faces, InOut h_u, InOut h_v, InOut h_w,
                                 Out u_new, Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid,
                                 Buoyancy buoyancy) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const real nu = fluid.viscosity;
  const Obstructed<Molecular, Buoyant> terms{Convection(grid), {nu}, {fluid, buoyancy, T}, {faces, nu}};
  advance(range, motion, dt, ratio, grid, terms, T);
}

TASK momentum_eddy_obstructed(Range range, In u, In v, In w, In nu_t, InShort faces, InShort edges, InOut h_u, InOut h_v,
                              InOut h_w, Out u_new, Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid, Fluid fluid) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const real nu = fluid.viscosity;
  const Obstructed<TurbulentBeside, Uniform> terms{Convection(grid), {nu, nu_t, {edges}}, {fluid}, {faces, nu}};
  advance(range, motion, dt, ratio, grid, terms, nu_t);
}

TASK momentum_eddy_buoyant_obstructed(Range range, In u, In v, In w, In nu_t, In T, InShort faces, InShort edges, InOut h_u,
                                      InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new, In64 dt, In64 ratio, Grid grid,
                                      Fluid fluid, Buoyancy buoyancy) {
  const Motion motion{u, v, w, h_u, h_v, h_w, u_new, v_new, w_new};
  const real nu = fluid.viscosity;
  const Obstructed<TurbulentBeside, Buoyant> terms{Convection(grid), {nu, nu_t, {edges}}, {fluid, buoyancy, T}, {faces, nu}};
  advance(range, motion, dt, ratio, grid, terms, nu_t, T);
}
