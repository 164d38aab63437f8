// Bodies in the pressure equation.
#include "cell.h"
#include "../flags.h"

// b = 1 on open low faces, 0 on closed ones
TASK open_faces(Range range, Out b_x, Out b_y, Out b_z, InByte solid) {
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    b_x[c] = closed(bits, 0) ? real(0) : real(1);
    b_y[c] = closed(bits, 2) ? real(0) : real(1);
    b_z[c] = closed(bits, 4) ? real(0) : real(1);
  });
}
