// Implicit diffusion along one direction within a stage: right-hand side and result of the lines of implicit_lines.cu. L is the
// second derivative along the direction.
#define UZ 1
#include "cell.h"
#include "../metrics.h"

FN real curvature(In q, Index c, Axis a, bool on_face) {
  const real low = q[c - a.step], two = 2 * q[c], high = q[c + a.step];
  return on_face ? a.second_derivative_on_face(low, two, high) : a.second_derivative_in_cell(low, two, high);
}

// values = -(L q + L q_new)
TASK begin_lines(Range range, In q, In q_new, Out values, Grid grid, int on_face) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Axis a = axis(grid, AXIS, index(c, AXIS), N);
    values[c] = -(curvature(q, c, a, on_face) + curvature(q_new, c, a, on_face));
  });
}

// q_new += change + dt dp/da on the low face across the axis a
TASK end_lines(Range range, InOut q_new, In change OPTIONAL(p), In64 dt, Grid grid) {
  FRAME(range)
  const real step = real(*dt);
  for_cells(range, CELL(c) {
    const real here = q_new[c], gain = change[c];
    if constexpr (present<decltype(p)>) {
      const real slope = axis(grid, AXIS, index(c, AXIS), N).per_face() * (p[c] - p[c - N]);
      q_new[c] = here + gain + step * slope;
    } else {
      q_new[c] = here + gain;
    }
  });
}
