// Momentum of two phases on the MAC grid in velocity form: the velocity q along an axis, seen from a face across it. r and s
// are the velocities along the other two. They are carried as in one fluid or, where `WENO` is defined, by WENO5.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 3
#include "cell.h"
#include "../adams_bashforth.h"
#include "../choices.h"
#include "../flags.h"
#include "friction.h"
#include "tension.h"
#include "weight.h"

#ifdef WENO
#include "carried_velocity.h"
FN Weno carrying(const Grid& grid, int axis, int r, int s) { return {grid, axis, r, s}; }
#else
#include "../convection.h"
FN Convection carrying(const Grid& grid, int, int, int) { return Convection(grid); }
FN real convection(const Convection& scheme, const Cell& c, const Component& a, const Component& b, const Component& d) {
  return advection(scheme, c, a, b, d);
}
#endif

TASK momentum_in_velocity_form(Range range, In q, In r, In s, In f, In f_new OPTIONAL(kappa) OPTIONAL(fall) OPTIONAL(faces),
                               InOut h, Out q_new, In64 dt, In64 ratio, Grid grid, Phases phases, Fluid fluid) {
  FRAME(range)
  const AdamsBashforth scheme(dt, ratio);
  const Friction friction{phases, f};
  const auto carried_by = carrying(grid, AXIS, AXIS_R, AXIS_S);
  for_cells(range, CELL(c) {
    const auto component = [&](In own, int number, Index along) __attribute__((always_inline)) {
      return Component{own, number, axis(grid, number, index(c, number), along)};
    };
    const Component a = component(q, AXIS, N), b = component(r, AXIS_R, R), d = component(s, AXIS_S, S);
    const auto flags = flags_of(faces, c);
    const real here = q[c], rho = density_on_face(phases, f, c, N), rho_new = density_on_face(phases, f_new, c, N);
    const real H = friction.at(c, a, b, d, flags >> (4 * AXIS)) / rho - convection(carried_by, c, a, b, d);
    const real jump = tension(phases, f_new, kappa, c, a) + weight_jump(phases, f_new, fall, c, a);
    const real force = jump / rho_new + phases.gravity[AXIS];
    const real velocity = scheme.advance(here, H, h[c]) + scheme.dt * force;
    const bool kept = (index(c, AXIS) == grid.first[AXIS]) | is_closed(flags, AXIS);
    h[c] = kept ? real(0) : H, q_new[c] = kept ? here : velocity;
  });
}
