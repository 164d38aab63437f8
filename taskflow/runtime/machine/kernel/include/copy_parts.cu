// Copies of many boxes in one launch: all cells sent at one moment, or filled by a message. GPU only.
#include "cell.h"
#include "parts.h"

extern "C" __global__ void copy_parts(const __grid_constant__ Parts parts) {
  copy_part(parts.part[blockIdx.y], blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}
