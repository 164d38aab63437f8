// The second invariant of the velocity gradient.
#define UZ 1
#include "cell.h"
#include "gradient.h"

// Q = -(du_i/dx_j) (du_j/dx_i) / 2 at the centre of a cell
TASK q_criterion(Range range, In u, In v, In w, Out Q, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const Faces below = faces(u, v, w, c - Z, X, Y), here = faces(u, v, w, c, X, Y), above = faces(u, v, w, c + Z, X, Y);
    const Gradient gradients = gradient(u, v, c, below, here, above, x, y, z, Fluids{});
    const auto& g = gradients.of;
    const real squares = square(g[0][0]) + square(g[1][1]) + square(g[2][2]);
    Q[c] = real(-0.5) * squares - (g[0][1] * g[1][0] + g[1][2] * g[2][1] + g[2][0] * g[0][2]);
  });
}
