/// # Copies of boxes: `#include "parts.h"`
/// Parts: up to 32 boxes to be copied
// Boxes to be copied by one launch.
constexpr int PARTS = 32;

// target[i + j target_y + k target_z] = source[i source_x + j source_y + k source_z] for nx x ny x (cells / nx ny) cells
struct Part {
  const real* source;
  real* target;
  Index source_y, source_z, target_y, target_z;
  unsigned nx, ny, cells;
  int source_x;  // 1, or on a turned chart the stride of cells along its own x
};

struct Parts {
  Part part[PARTS];
};

constexpr int TOGETHER = 8;  // cells of a thread in flight at a time: loads after a store would wait for it

// The cells of a box for this thread; `n` of `step` threads share them.
FN void copy_part(const Part& p, unsigned n, unsigned step) {
  for (; n < p.cells; n += TOGETHER * step) {
    real value[TOGETHER];
    real* target[TOGETHER];
#pragma unroll
    for (int m = 0; m < TOGETHER; ++m) {
      const unsigned wanted = n + m * step, cell = wanted < p.cells ? wanted : n;  // no branch before the loads
      const unsigned row = cell / p.nx, i = cell - row * p.nx, k = row / p.ny, j = row - k * p.ny;
      value[m] = p.source[Index(i) * p.source_x + j * p.source_y + k * p.source_z];
      target[m] = p.target + (i + j * p.target_y + k * p.target_z);
    }
#pragma unroll
    for (int m = 0; m < TOGETHER; ++m) {
      if (n + m * step < p.cells) *target[m] = value[m];
    }
  }
}
