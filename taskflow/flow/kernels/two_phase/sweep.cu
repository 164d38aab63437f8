// Sweeps of a volume of fluid along one axis after another (G. D. Weymouth, D. K.-P. Yue 2010, J. Comput. Phys. 229, 2853).
#include "cell.h"
#include "../metrics.h"
#include "ahead.h"
#include "phases.h"

// u_old = w = u + 0.025 ratio (u - u_old), the velocity that carries the interface
TASK carrying_velocity(Range range, In q, InOut q_old, In64 ratio) {
  const real lead = real(0.025 * *ratio);
  for_cells(range, CELL(c) { q_old[c] = ahead(q, q_old, c, lead); });
}

TASK mass_before(Range range, In f, Out mass, Phases phases) {
  for_cells(range, CELL(c) { mass[c] = density(phases, f[c]); });
}

// What a sweep adds to the share s, since the flow along its axis alone expands or contracts; along an absent axis nothing
FN real added(None, Index, Index, real, real) { return 0; }
FN real added(In w, Index c, Index step, real courant, real s) { return s * (courant * w[c + step] - courant * w[c]); }

// flux = rho_2 w + (rho_1 - rho_2) flux dx / dt, the mass that passes a face per area and time
TASK mass_of_shares(Range range, InOut flux, In w, In64 dt, Grid grid, Phases phases) {
  FRAME(range)
  const real once = 1 / (real(*dt) * axis(grid, AXIS, 0, N).per_cell());
  for_cells(range, CELL(c) {
    flux[c] = phases.density_2 * w[c] + (phases.density_1 - phases.density_2) * (once * flux[c]);
  });
}

// f_new = f - (flux behind - flux before) + s (c behind - c before), c = w dt / dx, s = 1 in cells with more of phase 1 before the
// step. Where `last`, it takes back what the other sweeps of the step added. mass = mass - what leaves.
TASK move_shares(Range range, In f, In f_begun, In flux, In w OPTIONAL(w_r) OPTIONAL(w_s), InOut mass, Out f_new, In64 dt,
                 Grid grid, Phases phases, int last) {
  FRAME(range)
  const real step = real(*dt) * axis(grid, AXIS, 0, N).per_cell();
  const real step_r = real(*dt) * axis(grid, AXIS_R, 0, R).per_cell(), step_s = real(*dt) * axis(grid, AXIS_S, 0, S).per_cell();
  for_cells(range, CELL(c) {
    const real s = f_begun[c] > real(0.5) ? 1 : 0, left = flux[c + N] - flux[c], all = added(w, c, N, step, 1);
    const real taken_back = added(w_r, c, R, step_r, s) + added(w_s, c, S, step_s, s);
    f_new[c] = f[c] - left + (last ? -taken_back : s * all);
    mass[c] -= phases.density_2 * all + (phases.density_1 - phases.density_2) * left;
  });
}
