// Velocities in the centres of cells: the mean of those on two faces.
#define UZ 1
#include "cell.h"

TASK centre_x(Range range, In u, Out centred) {
  STRIDES(range)
  for_cells(range, CELL(c) { centred[c] = real(0.5) * (u[c] + u[c + X]); });
}

TASK centre_y(Range range, In v, Out centred) {
  STRIDES(range)
  for_cells(range, CELL(c) { centred[c] = real(0.5) * (v[c] + v[c + Y]); });
}

TASK centre_z(Range range, In w, Out centred) {
  STRIDES(range)
  for_cells(range, CELL(c) { centred[c] = real(0.5) * (w[c] + w[c + Z]); });
}
