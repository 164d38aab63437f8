// A uniform force that changes in time.
#define UZ 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../metrics.h"

// H gains F, and the velocity its contribution to the stage; faces on walls keep their velocity.
TASK accelerate(Range range, InOut h_q, InOut q_new, In64 dt, In64 ratio, In64 force, Grid grid) {
  FRAME(range)
  const AdamsBashforth scheme(dt, ratio);
  const real F = real(*force), gain = scheme.gain(F);
  for_cells(range, CELL(c) {
    const bool kept = index(c, AXIS) == grid.first[AXIS];
    const real H = h_q[c] + (kept ? real(0) : F), next = q_new[c] + (kept ? real(0) : gain);
    loaded();
    h_q[c] = H, q_new[c] = next;
  });
}
