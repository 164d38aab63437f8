// A background temperature of constant gradient, carried by the flow.
#define UZ 1
#include "cell.h"
#include "../adams_bashforth.h"

// F = -q gradient, with q the mean of the cell's two faces; H gains F, and T_new its contribution to the stage.
TASK stratify(Range range, In q, InOut h_T, InOut T_new, In64 dt, In64 ratio, real gradient) {
  FRAME(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const real F = real(-0.5) * gradient * (q[c] + q[c + N]);
    const real H = h_T[c] + F, next = T_new[c] + scheme.gain(F);
    loaded();
    h_T[c] = H, T_new[c] = next;
  });
}
