// Copies of boxes between arrays whose rows are contiguous: packing, unpacking, and ghost cells across periodic faces.
#include "cell.h"

struct Strides {
  Index target_y, target_z, source_y, source_z;
};

// target[i + j target_y + k target_z] = source[i + j source_y + k source_z]; `real` is any value of its size
TASK copy_box(Range range, Out target, In source, Strides s) {
  for_cells(range, CELL(c) { target[c.i + c.j * s.target_y + c.k * s.target_z] = source[c.i + c.j * s.source_y + c.k * s.source_z]; });
}
