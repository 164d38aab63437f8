// Copies of many boxes at once: all cells that travel at one moment, or that a message fills. GPU only.
#include "cell.h"

constexpr int PARTS = 32;

// target[i + j target_y + k target_z] = source[i + j source_y + k source_z] for nx x ny x (cells / nx ny) cells
struct Part {
  const real* source;
  real* target;
  Index source_y, source_z, target_y, target_z;
  unsigned nx, ny, cells;
};

struct Parts {
  Part part[PARTS];
};

extern "C" __global__ void copy_parts(const __grid_constant__ Parts parts) {
  const Part& p = parts.part[blockIdx.y];
  const unsigned step = gridDim.x * blockDim.x;
#pragma unroll 4
  for (unsigned n = blockIdx.x * blockDim.x + threadIdx.x; n < p.cells; n += step) {
    const unsigned row = n / p.nx, i = n - row * p.nx, k = row / p.ny, j = row - k * p.ny;
    p.target[i + j * p.target_y + k * p.target_z] = p.source[i + j * p.source_y + k * p.source_z];
  }
}
