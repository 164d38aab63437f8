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
