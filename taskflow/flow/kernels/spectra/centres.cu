// Velocities in the centres of cells.
#define UZ 1
#include "cell.h"
#include "../centred.h"

// centred = mean of q on the two faces of a cell across the axis
TASK centre(Range range, In q, Out centred) {
  FRAME(range)
  for_cells(range, CELL(c) { centred[c] = ::centred(q, c, N); });
}
