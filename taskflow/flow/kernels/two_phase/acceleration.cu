// Friction, surface tension and weight of two phases, added to a velocity along an axis that has been moved.
#define UZ 16
#define UNROLL 1
#define BX 64
#define BY 4
#define RESIDENT 4
#include "cell.h"
#include "../flags.h"
#include "friction.h"
#include "tension.h"
#include "weight.h"

TASK accelerate(Range range, In q, In r, In s, In f, In f_new OPTIONAL(kappa) OPTIONAL(fall) OPTIONAL(faces), InOut h, InOut q_new,
                In64 dt, In64 ratio, Grid grid, Phases phases) {
  FRAME(range)
  const real step = real(*dt), half = real(0.5 * *ratio);
  const Friction friction{phases, f};
  for_cells(range, CELL(c) {
    const auto component = [&](In own, int number, Index along) __attribute__((always_inline)) {
      return Component{own, number, axis(grid, number, index(c, number), along)};
    };
    const Component a = component(q, AXIS, N), b = component(r, AXIS_R, R), d = component(s, AXIS_S, S);
    const auto flags = flags_of(faces, c);
    const real moved = q_new[c], rho_new = density_on_face(phases, f_new, c, N), earlier = taken(half != 0, h[c]);
    const real stress = friction.at(c, a, b, d, flags >> (4 * AXIS));
    const real jump = tension_of_planes(phases, f_new, kappa, c, a) + weight_jump(phases, f_new, fall, c, a);
    const real force = (1 + half) * stress - half * earlier + jump;
    const bool kept = (index(c, AXIS) == grid.first[AXIS]) | is_closed(flags, AXIS);
    h[c] = kept ? real(0) : stress;
    q_new[c] = kept ? moved : moved + step * (force / rho_new + phases.gravity[AXIS]);
  });
}
