// Copies of many boxes at once: all cells that travel at one moment, or that a message fills. GPU only.
#include "cell.h"
#include "parts.h"

extern "C" __global__ void copy_parts(const __grid_constant__ Parts parts) {
  copy_part(parts.part[blockIdx.y], blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}
