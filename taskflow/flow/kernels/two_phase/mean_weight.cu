// The mean weight of both phases, taken off the velocity q along an axis: the weight of the whole falls without an end where
// nothing holds it.
#include "cell.h"
#include "weight.h"

// weight = sum over faces of rho g, and of its jump at the interface
TASK weight_on_faces(Range range, In f OPTIONAL(fall), ExactPartial<1> weight, Grid grid, Phases phases, real bound) {
  FRAME(range)
  exact_sum_cells(range, weight, bound, CELL(c) {
    const Component a{f, AXIS, axis(grid, AXIS, index(c, AXIS), N)};
    const real plain = phases.gravity[AXIS] * density_on_face(phases, f, c, N);
    return Sums<1>{{double(plain) + double(weight_jump(phases, f, fall, c, a))}};
  });
}

TASK take_off_mean_weight(Range range, InOut q, In f, ExactIn64<1> total, In64 dt, Phases phases, real part) {
  FRAME(range)
  const real lift = real(*dt) * real(total[0] * part);
  for_cells(range, CELL(c) { q[c] -= lift / density_on_face(phases, f, c, N); });
}
