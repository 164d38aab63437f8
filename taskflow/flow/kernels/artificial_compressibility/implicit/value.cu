// Values of a scalar in an outer iteration: what is to be solved, what is left of it, and where it leads.
#include "cell.h"
#include "sweep.h"
#include "../geometry.h"

TASK value_right(Range range, In q, Out right OPTIONAL(metrics), Numbers numbers) {
  const auto g = geometry(metrics, numbers);
  for_cells(range, CELL(c) { right[c] = -g.volume(c) * q[c]; });
}

TASK value_left(Range range, InPrivate<7, Real_carry> carry, In right, In x, Out left) {
  for_cells(range, CELL(c) {
    real sum = carry(c, 6) * x[c];
    for (int side = 0; side < 6; ++side) {
      const real a = carry(c, side);  // beyond sides nothing is coupled, whatever lies there
      sum += taken(a != 0, a * x[c + beyond(range, side)]);
    }
    left[c] = right[c] - sum;
  });
}

TASK value_same(Range range, Out q, InOf<Real_x> x) {
  for_cells(range, CELL(c) { q[c] = x[c]; });
}

TASK value_added(Range range, InOut q, InOf<Real_x> x, real by) {
  for_cells(range, CELL(c) { q[c] += by * x[c]; });
}

TASK value_damped(Range range, InOut rest, InOut q, In64 damping) {
  const real by = real(*damping);
  for_cells(range, CELL(c) { rest[c] = q[c] = rest[c] - by * q[c]; });
}

TASK value_moved(Range range, In q, In x, Out moved, In64 share) {
  const real by = real(*share);
  const bool some = by != 0;
  for_cells(range, CELL(c) { moved[c] = q[c] + taken(some, by * x[c]); });
}

TASK lift(Range range, InOut u_r, InOut v_r, InOut w_r, In x OPTIONAL(metrics), Numbers numbers) {
  const auto g = geometry(metrics, numbers);
  for_cells(range, CELL(c) {
    const real warm = g.volume(c) * x[c];
    u_r[c] += numbers.lift[0] * warm, v_r[c] += numbers.lift[1] * warm, w_r[c] += numbers.lift[2] * warm;
  });
}
