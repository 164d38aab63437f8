// The Coriolis force on the MAC grid: F = -2 Omega x u, for an Omega along one axis.
#define UZ 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../metrics.h"

// The mean of q on the four faces around a face across b of cell c: q lives on the low faces across a.
FN real around(In q, Index c, Index a, Axis b) {
  return real(0.25) * b.twice_mean(q[c - b.step] + q[c - b.step + a], q[c] + q[c + a]);
}

// F_r = frequency s and F_s = -frequency r, with r and s the velocities along R and S; H gains F, and the velocity its
// contribution to the stage. Faces on walls keep their velocity.
FN void turn(const Range& range, In r, In s, InOut h_r, InOut h_s, InOut r_new, InOut s_new, In64 dt, In64 ratio,
             const Grid& grid, real frequency) {
  FRAME(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const int n_r = index(c, AXIS_R), n_s = index(c, AXIS_S);
    const real along_r = frequency * around(s, c, S, axis(grid, AXIS_R, n_r, R));
    const real along_s = -frequency * around(r, c, R, axis(grid, AXIS_S, n_s, S));
    const real F_r = n_r == grid.first[AXIS_R] ? real(0) : along_r;
    const real F_s = n_s == grid.first[AXIS_S] ? real(0) : along_s;
    const real H_r = h_r[c] + F_r, H_s = h_s[c] + F_s;
    const real r_next = r_new[c] + scheme.gain(F_r), s_next = s_new[c] + scheme.gain(F_s);
    loaded();
    h_r[c] = H_r, h_s[c] = H_s, r_new[c] = r_next, s_new[c] = s_next;
  });
}

TASK coriolis(Range range, In r, In s, InOut h_r, InOut h_s, InOut r_new, InOut s_new, In64 dt, In64 ratio, Grid grid,
              real frequency) {
  turn(range, r, s, h_r, h_s, r_new, s_new, dt, ratio, grid, frequency);
}

// With an Omega that changes in time
TASK coriolis_timed(Range range, In r, In s, InOut h_r, InOut h_s, InOut r_new, InOut s_new, In64 dt, In64 ratio,
                    In64 rotation, Grid grid, real factor) {
  turn(range, r, s, h_r, h_s, r_new, s_new, dt, ratio, grid, factor * real(*rotation));
}
