// The last level of multigrid, solved by the inverse of its operator.
#include "cell.h"

constexpr int TOGETHER = 16;  // terms whose loads are on the way at a time: one by one each would take its full latency

// p = the sum over all cells of what the inverse has of each for this one, times rhs there.
TASK solve_exactly(Range range, In rhs, Out p, Inverse inverse) {
  STRIDES(range)
  const int nx = inverse.cells[0], ny = inverse.cells[1], count = nx * ny * inverse.cells[2];
  const Index to_row = Y - (nx - 1), to_plane = Z - (ny - 1) * Y - (nx - 1);  // from the last cell of one to the next
  for_cells(range, CELL(c) {
    const real* column = inverse.columns + (c.i + nx * (c.j + ny * c.k));
    real sum = 0;
    int i = 0, j = 0;
    Index there = 0;  // of the next term's cell
    for (int first = 0; first < count; first += TOGETHER) {
      real weight[TOGETHER], value[TOGETHER];
#pragma unroll
      for (int n = 0; n < TOGETHER; ++n) {
        weight[n] = *column, value[n] = rhs[there];
        const bool more = first + n + 1 < count;  // otherwise the last one is loaded again: there are no branches
        const bool row_ends = i + 1 == nx, plane_ends = row_ends && j + 1 == ny;
        const Index step = plane_ends ? to_plane : row_ends ? to_row : X;
        column += more ? count : 0, there += more ? step : 0;
        i = row_ends ? 0 : i + 1, j = plane_ends ? 0 : j + row_ends;
      }
      loaded();
#pragma unroll
      for (int n = 0; n < TOGETHER; ++n) {
        if (first + n < count) sum += weight[n] * value[n];
      }
    }
    p[c] = sum;
  });
}
