// The heat given by a body in the last step, if some body moves.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../metrics.h"

// flux = sum of volume push over the cells that belong to a body
TASK heat_from_moving_body(Range range, In push_T, InByte owner_T, Partial flux, Grid grid, int number) {
  reduce_cells(range, flux, SUM, CELL(c) {
    const double volume = double(width(grid, 0, c.i)) * width(grid, 1, c.j) * width(grid, 2, c.k);
    return owner_T[c] == number ? volume * double(push_T[c]) : 0.0;
  });
}
