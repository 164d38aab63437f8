// Effect of a body on the adjacent velocity, which is predicted without bodies: 0 on closed faces, friction on cut ones.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "stages.h"
#include "surfaces.h"

// The velocity q on the face of a cell across a, minus the contribution of the projection with the last pressure
FN real beside(real q, Index c, bool shut, const Surface& at, const Way& a, const Way& b, const Way& d, real drag, real push) {
  if (shut) return 0;
  const Adhered found = adhered(c, at, a, b, d, drag);
  return found.kept * q + (found.added + (1 - found.kept) * push);
}

// Momentum taken by the body per time, from the velocity before and after, or nothing if it is not recorded
FN void note(None, Index, real, real, None) {}
FN void note(InOut push, Index c, real taken, real pressure, const StagePart& stage) {
  push[c] = so_far(push[c], taken, pressure, stage);
}

// u_new = 0 on closed faces; friction, and exchange of cut faces with their neighbours, on others. Faces on walls are
// unchanged. push = momentum taken by bodies from the fluid, per time.
TASK apply_wall_friction(Range range, In u, In v, In w, InOut u_new, InOut v_new, InOut w_new, In p, InByte solid,
                         In friction_x, In friction_y, In friction_z, In blockage_x, In blockage_y, In blockage_z
                         OPTIONAL(push_x) OPTIONAL(push_y) OPTIONAL(push_z), In64 dt, Grid grid,
                         real viscosity OPTIONAL(stage)) {
  STRIDES(range)
  const real step = real(*dt), drag = step * viscosity;
  const Surface at_x{u, friction_x, blockage_x}, at_y{v, friction_y, blockage_y}, at_z{w, friction_z, blockage_z};
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    if (bits & BESIDE) {  // few cells: the loads of all others are skipped
      const Way x = way(grid, 0, c.i, X), y = way(grid, 1, c.j, Y), z = way(grid, 2, c.k, Z);
      const real here = p[c];
      const auto adhere = [&](InOut q_new, auto push, const Surface& at, const Way& a, const Way& b, const Way& d, bool shut) {
        if (a.first) return;
        const real fall = a.axis.per_face() * (here - p[c - a.axis.step]), q = q_new[c];
        const real next = beside(q, c, shut, at, a, b, d, drag, step * fall);
        q_new[c] = next;
        note(push, c, (q - next) / step, shut ? -fall : real(0), stage);
      };
      adhere(u_new, push_x, at_x, x, y, z, closed(bits, 0));
      adhere(v_new, push_y, at_y, y, x, z, closed(bits, 2));
      adhere(w_new, push_z, at_z, z, x, y, closed(bits, 4));
    }
  });
}

// T = (T + dt diffusivity warm) / (1 + dt diffusivity conductance), where T is not given
TASK wall_heat_flux(Range range, InOut T, In conductance_T, In warm_T, In64 dt, real diffusivity) {
  const real step = real(*dt) * diffusivity;
  for_cells(range, CELL(c) {
    const real conductance = conductance_T[c];
    if (conductance > 0) T[c] = (T[c] + step * warm_T[c]) / (1 + step * conductance);
  });
}
