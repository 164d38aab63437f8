// Copies of any number of boxes, from a table: all ghost cells that pieces of a block get from each other.
#define LISTED
#include "cell.h"
#include "parts.h"

#ifdef GPU
// The n-th of `count` thread blocks that share a part
struct SharedPart {
  unsigned part, n, count;
};
extern "C" __global__ void copy_list(const Part* __restrict__ parts, const SharedPart* __restrict__ blocks) {
  const SharedPart mine = blocks[blockIdx.x];
  copy_part(parts[mine.part], mine.n * blockDim.x + threadIdx.x, mine.count * blockDim.x);
}
#else
extern "C" void copy_list(const Part* parts, const Index* begins, int count, int threads) {
  share_pieces(begins, count, threads, [=](int n) {
    const Part p = parts[n];
    for (unsigned row = 0; row < p.cells / p.nx; ++row) {
      const unsigned k = row / p.ny, j = row - k * p.ny;
      real* const target = p.target + (j * p.target_y + k * p.target_z);
      const real* const source = p.source + (j * p.source_y + k * p.source_z);
      if (p.source_x == 1) {
        memcpy(target, source, p.nx * sizeof(real));
      } else {
        for (unsigned i = 0; i < p.nx; ++i) target[i] = source[Index(i) * p.source_x];
      }
    }
  });
}
#endif
