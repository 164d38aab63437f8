// Momentum of two phases on the MAC grid, carried by the mass fluxes that carry the interface: the velocity q
// along an axis, seen from a face across it. r and s are the velocities along the other two.
#define UZ 16
#define UNROLL 1
#define BX 64
#define BY 4
#define RESIDENT 3
#define PLANES 1
#include "cell.h"
#include "../flags.h"
#include "friction.h"
#include "tension.h"
#include "transport.h"
#include "weight.h"

TASK momentum_of_phases(Range range, In q, In r, In s, In q_old, In m_n, In m_r, In m_s, In f, In f_new OPTIONAL(kappa)
                        OPTIONAL(fall) OPTIONAL(faces), InOut h, Out q_new, In64 dt, In64 ratio, Grid grid, Phases phases) {
  FRAME(range)
  const real step = real(*dt), half = real(0.5 * *ratio);
  const Middle middle{half};
  const Friction friction{phases, f};
  for_columns(range, clear_of_walls(grid), CELL(c) {
    const auto carried = [&](In own, In mass, int number, Index along) __attribute__((always_inline)) {
      return Carried{{own, number, axis(grid, number, index(c, number), along)}, q_old, mass, grid.first[number], grid.last[number]};
    };
    const Carried a = carried(q, m_n, AXIS, N), b = carried(r, m_r, AXIS_R, R), d = carried(s, m_s, AXIS_S, S);
    const auto flags = flags_of(faces, c);
    const real here = q[c], rho = density_on_face(phases, f, c, N), rho_new = density_on_face(phases, f_new, c, N);
    const Leaving out = outflow(middle, c, a, b, d);
    const real stress = friction.at(c, a.now, b.now, d.now, flags >> (4 * AXIS)), earlier = taken(half != 0, h[c]);
    const real force = (1 + half) * stress - half * earlier + tension(phases, f_new, kappa, c, a.now)
                       + weight_jump(phases, f_new, fall, c, a.now);
    const real velocity = (rho * here - step * out.momentum) / (rho - step * out.mass)  // carried
                          + step * (force / rho_new + phases.gravity[AXIS]);            // friction, surface tension, weight
    const bool kept = (!is_far(c, AXIS) & (index(c, AXIS) == a.first)) | is_closed(flags, AXIS);
    h[c] = kept ? real(0) : stress, q_new[c] = kept ? here : velocity;
  }, q, q_old, r, s, m_n, m_r, m_s, f, f_new, kappa, fall);
}
