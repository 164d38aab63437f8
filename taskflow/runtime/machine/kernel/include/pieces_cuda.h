// Lists of pieces on a GPU: one launch does a task on many boxes, each with the arguments that a launch of its own would have.
// A table in memory says of each thread block on which piece it works, and where there.
#define BLOCK(r) (r).block
#define BLOCKS(r) (r).blocks

struct PlacedBlock {
  unsigned x, y, z, piece;
};

FN Range placed(Range r, const PlacedBlock& block) {
  r.block = make_uint3(block.x, block.y, block.z);
  return r;
}
FN Partial placed(Partial partial, const Range& r) {
  partial.blocks = r.blocks.x * r.blocks.y * r.blocks.z;
  partial.block = (r.block.z * r.blocks.y + r.block.y) * r.blocks.x + r.block.x;
  return partial;
}
template <class Several>
FN Several placed(Several partials, const Range& r) {
  for (Partial& partial : partials.of) partial = placed(partial, r);
  return partials;
}
FN unsigned blocks_of(const Partial& partial) { return partial.blocks; }
FN Index block_of(const Partial& partial) { return partial.block; }

// What thread 0 of the last block of a piece has, folded behind what other pieces have by the last one to finish: in the order
// of the pieces, as launches one after the other do. A warp loads what 32 pieces have and folds it one by one.
template <class Op, int N>
FN void fold_pieces(const double (&values)[N], const Partial (&partials)[N]) {
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x, lane = me & 31;
  const unsigned pieces = partials[0].pieces;
  __shared__ bool last;
  if (me == 0) {
    for (int m = 0; m < N; ++m) partials[m].values[partials[m].piece] = values[m];
    *partials[0].ticket = 0;
    __threadfence();
    last = atomicAdd(partials[0].finished, 1u) == pieces - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
#pragma unroll
  for (int m = 0; m < N; ++m) {
    if (me / 32 != m % (size / 32)) continue;
    bool any = partials[m].before;
    double total = any ? *partials[m].before : Op::identity();
    for (unsigned first = 0; first < pieces; first += 32) {
      const double mine = first + lane < pieces ? __ldcg(partials[m].values + first + lane) : 0;
      for (unsigned n = 0; n < 32 && first + n < pieces; ++n) {
        const double next = __shfl_sync(0xffffffffu, mine, n);
        total = any ? Op::fold(total, next) : next, any = true;
      }
    }
    if (lane == 0) *partials[m].result = total;
  }
  if (me == 0) *partials[0].finished = 0;
}
