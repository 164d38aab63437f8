// Velocities in the centres of cells.
#define UZ 1
#include "cell.h"
#include "../centred.h"

TASK centre_x(Range range, In u, Out centred) {
  STRIDES(range)
  for_cells(range, CELL(c) { centred[c] = ::centred(u, c, X); });
}

TASK centre_y(Range range, In v, Out centred) {
  STRIDES(range)
  for_cells(range, CELL(c) { centred[c] = ::centred(v, c, Y); });
}

TASK centre_z(Range range, In w, Out centred) {
  STRIDES(range)
  for_cells(range, CELL(c) { centred[c] = ::centred(w, c, Z); });
}
