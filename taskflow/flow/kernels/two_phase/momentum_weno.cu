// Momentum of two phases on the MAC grid in velocity form: the velocity q along an axis, seen from a face across it. r and s
// are the velocities along the other two.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 3
#include "cell.h"
#include "../adams_bashforth.h"
#include "../flags.h"
#include "carried_velocity.h"
#include "friction.h"
#include "tension.h"

TASK momentum_by_weno(Range range, In q, In r, In s, In f, In f_new OPTIONAL(kappa) OPTIONAL(faces), InOut h, Out q_new,
                      In64 dt, In64 ratio, Grid grid, Phases phases) {
  FRAME(range)
  const AdamsBashforth scheme(dt, ratio);
  const Friction friction{phases, f};
  const Known own = known(grid, AXIS, true), along_r = known(grid, AXIS_R, false), along_s = known(grid, AXIS_S, false);
  for_cells(range, CELL(c) {
    const auto component = [&](In own, int number, Index along) __attribute__((always_inline)) {
      return Component{own, number, axis(grid, number, index(c, number), along)};
    };
    const auto by = [&](real speed, const Component& b, const Known& k) __attribute__((always_inline)) {
      return carried(speed, q, c, b.number, b.axis, k);
    };
    const Component a = component(q, AXIS, N), b = component(r, AXIS_R, R), d = component(s, AXIS_S, S);
    const auto flags = flags_of(faces, c);
    const real here = q[c], rho = density_on_face(phases, f, c, N), rho_new = density_on_face(phases, f_new, c, N);
    const real convection = by(here, a, own) + by(on_face(c, a, b), b, along_r) + by(on_face(c, a, d), d, along_s);
    const real H = friction.at(c, a, b, d, flags >> (4 * AXIS)) / rho - convection;
    const real force = tension(phases, f_new, kappa, c, a) / rho_new + phases.gravity[AXIS];
    const real velocity = scheme.advance(here, H, h[c]) + scheme.dt * force;
    const bool kept = (index(c, AXIS) == grid.first[AXIS]) | is_closed(flags, AXIS);
    h[c] = kept ? real(0) : H, q_new[c] = kept ? here : velocity;
  });
}
