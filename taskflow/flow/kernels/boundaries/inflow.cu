// Inflow: what enters is prescribed, by values that have the indices of the faces.
#define UZ 1
#include "cell.h"

// q = values
TASK impose_values(Range range, Out q, Foreign values) {
  for_cells(range, CELL(c) { q[c] = at(values, c.i, c.j, c.k); });
}

// q[ghost] = 2 values[face] - q[inside]: then the mean of both is the value on the face
TASK reflect(Range range, InOut q, Foreign values) {
  FRAME(range)
  for_cells(range, CELL(c) { q[c] = 2 * at(values, c, AXIS, HIGH ? 0 : 1) - q[c + N]; });
}

// phi = (2 f - 1) beyond, in the first layer of ghost cells, f being the share of phase 1 on the face
TASK enter_level_set(Range range, Out phi, Foreign share, Beyond far) {
  FRAME(range)
  for_cells(range, CELL(c) { phi[c] = (2 * at(share, c, AXIS, HIGH ? 0 : 1) - 1) * far.beyond; });
}
