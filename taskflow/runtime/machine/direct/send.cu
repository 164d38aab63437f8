// Copies many boxes into the memory of others, once all claims are granted; the last thread block to finish then posts
// the flags.
#include "cell.h"
#include "parts.h"
#include "flags.h"

extern "C" __global__ void copy_and_post(const __grid_constant__ Flags claims, const __grid_constant__ Watch watch,
                                         const __grid_constant__ Parts parts, const __grid_constant__ Flags flags,
                                         unsigned* ticket) {
  await_flags(claims, watch);
  __syncthreads();
  copy_part(parts.part[blockIdx.y], blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
  __shared__ bool last;
  __syncthreads();  // all copies of the block precede the fence of its first thread
  if (threadIdx.x == 0) {
    __threadfence_system();
    last = atomicAdd(ticket, 1u) == gridDim.x * gridDim.y - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) *ticket = 0;
  count_awaited(claims);
  __threadfence_system();
  post_flags(flags);
}
