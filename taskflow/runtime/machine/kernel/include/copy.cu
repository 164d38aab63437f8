// Copies of boxes: packing, unpacking, and ghost cells across periodic faces and seams. Rows of the target are contiguous.
#include "cell.h"

struct Strides {
  Index target_y, target_z, source_x, source_y, source_z;
};

// target[i + j target_y + k target_z] = source[i + j source_y + k source_z]; `real` is any value of its size
TASK copy_box(Range range, Out target, In source, Strides s) {
  for_cells(range, CELL(c) { target[c.i + c.j * s.target_y + c.k * s.target_z] = source[c.i + c.j * s.source_y + c.k * s.source_z]; });
}

// The same from an array of another chart, whose rows are along any axis, forwards or backwards.
TASK copy_turned(Range range, Out target, In source, Strides s) {
  for_cells(range, CELL(c) {
    target[c.i + c.j * s.target_y + c.k * s.target_z] = source[c.i * s.source_x + c.j * s.source_y + c.k * s.source_z];
  });
}
