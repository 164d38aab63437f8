// The Coriolis force on the MAC grid: F = -2 Omega x u, for an Omega along one axis.
#define UZ 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../metrics.h"

// The mean of q on the four faces around a face across b of cell c: q lives on the low faces across a.
FN real around(In q, Index c, Index a, Axis b) {
  return real(0.25) * b.twice_mean(q[c - b.step] + q[c - b.step + a], q[c] + q[c + a]);
}

// F_q = f r and F_r = -f q, q and r being the velocities along the two axes that follow the one of Omega, f = 2 |Omega|;
// H gains F, and the velocity what the stage makes of it. Faces that lie on a wall keep theirs.
#define CORIOLIS(about, A, index_a, a, B, index_b, b)                                                                  \
  TASK coriolis_##about(Range range, In q, In r, InOut h_q, InOut h_r, InOut q_new, InOut r_new, In64 dt, In64 ratio,  \
                       Grid grid, real frequency) {                                                                   \
    STRIDES(range)                                                                                                    \
    const AdamsBashforth scheme(dt, ratio);                                                                           \
    for_cells(range, CELL(c) {                                                                                        \
      const real along_q = frequency * around(r, c, B, axis(grid, a, c.index_a, A));                                  \
      const real along_r = -frequency * around(q, c, A, axis(grid, b, c.index_b, B));                                 \
      const real F_q = c.index_a == grid.first[a] ? real(0) : along_q;                                                \
      const real F_r = c.index_b == grid.first[b] ? real(0) : along_r;                                                \
      const real H_q = h_q[c] + F_q, H_r = h_r[c] + F_r;                                                              \
      const real q_next = q_new[c] + scheme.gain(F_q), r_next = r_new[c] + scheme.gain(F_r);                          \
      loaded();                                                                                                       \
      h_q[c] = H_q, h_r[c] = H_r, q_new[c] = q_next, r_new[c] = r_next;                                               \
    });                                                                                                               \
  }

CORIOLIS(x, Y, j, 1, Z, k, 2)
CORIOLIS(y, Z, k, 2, X, i, 0)
CORIOLIS(z, X, i, 0, Y, j, 1)
