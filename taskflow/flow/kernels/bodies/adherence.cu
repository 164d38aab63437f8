// What a body does to the velocity beside it, predicted as if there were none: 0 on closed faces, slowed down on cut ones.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "surfaces.h"

// The velocity q on the face of a cell across a, less what the projection with the last pressure will take
FN real beside(real q, Index c, bool shut, const Surface& at, const Way& a, const Way& b, const Way& d, real drag, real push) {
  if (shut) return 0;
  const Adhered found = adhered(c, at, a, b, d, drag);
  return found.kept * q + (found.added + (1 - found.kept) * push);
}

// u_new = 0 on closed faces; friction, and what is brought to cut ones and from these to others. Those on walls stay.
TASK apply_wall_friction(Range range, In u, In v, In w, InOut u_new, InOut v_new, InOut w_new, In p, InByte solid,
                         In friction_x, In friction_y, In friction_z, In blockage_x, In blockage_y, In blockage_z, In64 dt,
                         Grid grid, real viscosity) {
  STRIDES(range)
  const real step = real(*dt), drag = step * viscosity;
  const Surface at_x{u, friction_x, blockage_x}, at_y{v, friction_y, blockage_y}, at_z{w, friction_z, blockage_z};
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    if (bits & BESIDE) {  // few are: what all others would load stays where it is
      const Way x = way(grid, 0, c.i, X), y = way(grid, 1, c.j, Y), z = way(grid, 2, c.k, Z);
      const real here = p[c], px = step * x.axis.per_face() * (here - p[c - X]);
      const real py = step * y.axis.per_face() * (here - p[c - Y]), pz = step * z.axis.per_face() * (here - p[c - Z]);
      if (!x.first) u_new[c] = beside(u_new[c], c, closed(bits, 0), at_x, x, y, z, drag, px);
      if (!y.first) v_new[c] = beside(v_new[c], c, closed(bits, 2), at_y, y, x, z, drag, py);
      if (!z.first) w_new[c] = beside(w_new[c], c, closed(bits, 4), at_z, z, x, y, drag, pz);
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
