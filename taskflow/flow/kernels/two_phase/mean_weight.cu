// The mean weight of both phases, taken off the velocity q along an axis: the weight of the whole falls without an end where
// nothing holds it.
#include "cell.h"
#include "phases.h"

TASK take_off_mean_weight(Range range, InOut q, In f, ExactIn64<1> total, In64 dt, Phases phases, real part) {
  FRAME(range)
  const real mean = density(phases, real(total[0] * part)), lift = real(*dt) * phases.gravity[AXIS] * mean;
  for_cells(range, CELL(c) { q[c] -= 2 * lift / (density(phases, f[c - N]) + density(phases, f[c])); });
}
