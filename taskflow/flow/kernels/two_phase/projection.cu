// The coefficients of the pressure, 1/rho on faces, and the velocity once the pressure is known.
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"
#include "ahead.h"
#include "phases.h"

FN real on_open_face(real b, None, int) { return b; }
FN real on_open_face(real b, int solid, int n) { return is_shut(solid, n) ? real(0) : b; }

// b = 2 / (rho in the cell before + rho in the cell) - less, 0 where a face is closed
TASK inverse_density(Range range, In f OPTIONAL(solid), Out b_x, Out b_y, Out b_z, Phases phases, real less) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const auto flags = flags_of(solid, c);
    const real here = density(phases, f[c]), x = density(phases, f[c - X]), y = density(phases, f[c - Y]);
    const real z = density(phases, f[c - Z]);
    b_x[c] = on_open_face(2 / (x + here) - less, flags, 0);
    b_y[c] = on_open_face(2 / (y + here) - less, flags, 2);
    b_z[c] = on_open_face(2 / (z + here) - less, flags, 4);
  });
}

TASK begin_old(Range range, In q, Out q_old) {
  for_cells(range, CELL(c) { q_old[c] = q[c]; });
}

// p + ratio (p - p_old) in the place of p_old: the first guess of the next pressure
TASK extrapolate_pressure(Range range, In p, InOut p_old, In64 ratio) {
  const real lead = real(*ratio);
  for_cells(range, CELL(c) { p_old[c] = ahead(p, p_old, c, lead); });
}

// u = u - dt b grad(p), in place; on walls the velocity stays.
TASK correct_by_density(Range range, InOut u, InOut v, InOut w, In p, In b_x, In b_y, In b_z, In64 dt, Grid grid) {
  STRIDES(range)
  const real step = real(*dt);
  for_cells(range, CELL(c) {
    const real x = step * axis(grid, 0, c.i, X).per_face(), y = step * axis(grid, 1, c.j, Y).per_face();
    const real z = step * axis(grid, 2, c.k, Z).per_face();
    const real here = p[c], u_old = u[c], v_old = v[c], w_old = w[c];
    const real u_next = u_old - x * (b_x[c] * (here - p[c - X])), v_next = v_old - y * (b_y[c] * (here - p[c - Y]));
    const real w_next = w_old - z * (b_z[c] * (here - p[c - Z]));
    u[c] = c.i == grid.first[0] ? u_old : u_next;
    v[c] = c.j == grid.first[1] ? v_old : v_next;
    w[c] = c.k == grid.first[2] ? w_old : w_next;
  });
}
