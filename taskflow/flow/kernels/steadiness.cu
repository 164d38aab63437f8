// Change of a flow since a kept state.
#define UZ 32
#include "cell.h"

// The velocity is kept, to be compared with later ones.
TASK keep_velocity(Range range, In u, In v, In w, Out was_u, Out was_v, Out was_w) {
  for_cells(range, CELL(c) {
    const real x = u[c], y = v[c], z = w[c];
    was_u[c] = x;
    was_v[c] = y;
    was_w[c] = z;
  });
}

// And so is a quantity.
TASK keep_quantity(Range range, In q, Out was_q) {
  for_cells(range, CELL(c) { was_q[c] = q[c]; });
}

// change = max |q - q_old|
TASK quantity_change(Range range, In q, In q_old, Partial change) {
  reduce_cells(range, change, MAX, CELL(c) { return magnitude(q[c] - q_old[c]); });
}
