// What enters is given: by values that have the indices of the faces.
#define UZ 1
#include "cell.h"

// q = values
TASK impose_values(Range range, Out q, Foreign values) {
  for_cells(range, CELL(c) { q[c] = at(values, c.i, c.j, c.k); });
}

// Ghost cells become what has, with the cell inside, the mean that is given. `inside` is one step into the domain;
// i, j and k lead from a ghost cell to the face.
#define REFLECTS(name, inside, i_, j_, k_)                                                                 \
  TASK reflect_##name(Range range, InOut q, Foreign values) {                                              \
    STRIDES(range)                                                                                         \
    for_cells(range, CELL(c) { q[c] = 2 * at(values, c.i + i_, c.j + j_, c.k + k_) - q[c + (inside)]; });   \
  }

REFLECTS(x_min, X, 1, 0, 0)
REFLECTS(x_max, -X, 0, 0, 0)
REFLECTS(y_min, Y, 0, 1, 0)
REFLECTS(y_max, -Y, 0, 0, 0)
REFLECTS(z_min, Z, 0, 0, 1)
REFLECTS(z_max, -Z, 0, 0, 0)
