// The 7-point sweep by which machines are compared: equal spacings, no walls.
#define UZ 4
#include "cell.h"

// (the six neighbours of a cell - d) / 6
FN real relaxed(In p, In d, Index c, Index Y, Index Z) {
  return (p[c - 1] + p[c + 1] + p[c - Y] + p[c + Y] + p[c - Z] + p[c + Z] - d[c]) * real(1.0 / 6.0);
}

TASK jacobi(Range range, In p, In d, Out p_new) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = relaxed(p, d, c, Y, Z); }, p + Z, d, p_new);
}

// The same for a task that declares no neighbours: nobody fills its ghost cells.
TASK isolated(Range range, In p, In d, Out p_new) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = relaxed(p, d, c, Y, Z); }, p + Z, d, p_new);
}
