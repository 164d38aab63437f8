// Lists of pieces on a GPU: one launch does a task on many boxes, each with the arguments of a separate launch. A table in memory
// maps each thread block to its piece, and its position there.
#define BLOCK(r) (r).block
#define BLOCKS(r) (r).blocks

struct PlacedBlock {
  unsigned x, y, z, piece;
};

FN Range placed(Range r, const PlacedBlock& block) {
  r.block = make_uint3(block.x, block.y, block.z);
  return r;
}

// An argument as stored in the table
template <class Argument>
struct Tabled {
  Argument of;
  INLINE operator const Argument&() const { return of; }
};
template <int N>
struct Tabled<PartialOf<N>> {
  Partial of[N];
  INLINE operator PartialOf<N>() const { return {of}; }
};
template <int N>
struct Tabled<ExactPartial<N>> {
  Partial of[3 * N];
  INLINE operator ExactPartial<N>() const { return {of}; }
};
