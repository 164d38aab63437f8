// Reductions on a GPU, in a fixed order: by thread block, over all thread blocks, over pieces.

// Values of all threads of a block (whole warps), folded in a fixed order, several numbers at a time, readable by all of them.
struct FoldedBlock {
  const double (*of)[33];  // one column more than warps: threads that read a row each access different banks
  INLINE double operator[](int m) const { return of[m][0]; }
};
template <class Op, int N>
FN FoldedBlock fold_block(double (&values)[N]) {
  __shared__ double warps[N][33];
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
#pragma unroll
  for (int m = 0; m < N; ++m) {
    for (int n = 16; n; n /= 2)  // valid in lanes below n
      values[m] = Op::fold(values[m], __shfl_down_sync(0xffffffffu, values[m], n));
    if ((me & 31) == 0) warps[m][me / 32] = values[m];
  }
  __syncthreads();
  for (int m = me; m < N; m += size) {
    double total = warps[m][0];
    for (int n = 1; n < size / 32; ++n) total = Op::fold(total, warps[m][n]);
    warps[m][0] = total;
  }
  __syncthreads();
  return {warps};
}

#ifdef LISTED
// Folds the results of the pieces in order, in the last one to finish, bitwise identical to sequential launches. One thread
// per number.
template <class Op, int N>
FN void fold_pieces(const FoldedBlock& values, const Partial (&partials)[N]) {
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned pieces = partials[0].pieces;
  __shared__ bool last;
  if (me == 0) {
#pragma unroll
    for (int m = 0; m < N; ++m) partials[m].values[partials[m].piece] = values[m];
    *partials[0].ticket = 0;
    __threadfence();
    last = atomicAdd(partials[0].finished, 1u) == pieces - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int m = me; m < N; m += size) {
    const double* of = partials[m].values;
    double total = partials[m].before ? Op::fold(*partials[m].before, __ldcg(of)) : __ldcg(of);
#pragma unroll 8
    for (unsigned n = 1; n < pieces; ++n) total = Op::fold(total, __ldcg(of + n));
    *partials[m].result = total;
  }
  if (me == 0) *partials[0].finished = 0;
}
#endif

// *result = the values of all threads folded: by thread block, and by the last block to finish over the blocks, in order.
template <class Op, int N>
FN void fold_all(const Range& r, double (&values)[N], const Partial (&partials)[N]) {
  const FoldedBlock mine = fold_block<Op>(values);
  const unsigned width = BLOCKS(r).x, height = BLOCKS(r).y, blocks = width * height * BLOCKS(r).z;
  const unsigned size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  __shared__ bool last;
  if (me == 0) {
    const Index part = (Index(BLOCK(r).z) * height + BLOCK(r).y) * width + BLOCK(r).x;
#pragma unroll
    for (int m = 0; m < N; ++m) partials[m].parts[part] = mine[m];
    __threadfence();
    last = atomicAdd(partials[0].ticket, 1u) == blocks - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
#pragma unroll
  for (int m = 0; m < N; ++m)  // all loads are issued before the first fold
    values[m] = me < blocks ? Op::fold(Op::identity(), __ldcg(partials[m].parts + me)) : Op::identity();
#pragma unroll 1
  for (unsigned b = me + size; b < blocks; b += size)
#pragma unroll
    for (int m = 0; m < N; ++m) values[m] = Op::fold(values[m], __ldcg(partials[m].parts + b));
  const FoldedBlock all = fold_block<Op>(values);
#ifdef LISTED
  fold_pieces<Op>(all, partials);
#else
  if (me > 0) return;
  for (int m = 0; m < N; ++m)
    *partials[m].result = partials[m].before ? Op::fold(*partials[m].before, all[m]) : all[m];
  *partials[0].ticket = 0;
#endif
}

// *result = f(cell) folded over the range: columns, then as above.
template <class Op, class F>
FN void reduce_cells(const Range& r, Partial partial, Op, F f) {
  double value[] = {Op::identity()};
  for_cells(r, [&](Cell c) { value[0] = Op::fold(value[0], f(c)); });
  fold_all<Op>(r, value, {partial});
}

template <class In = Interior, class Op, class F, class... Streams>
FN void reduce_cells(const Range& r, const In& in, Partial partial, Op, F f, Streams... streams) {
  double value[] = {Op::identity()};
  for_cells(r, in, [&](auto c) { value[0] = Op::fold(value[0], f(c)); }, streams...);
  fold_all<Op>(r, value, {partial});
}

// Several sums: f(cell) is a Sums<N>.
template <int N, class In = Interior, class F, class... Streams>
FN void sum_cells(const Range& r, const In& in, const Partial (&partials)[N], F f, Streams... streams) {
  Sums<N> sums = {};
  for_cells(r, in, [&](auto c) {
    const Sums<N> more = f(c);
    for (int n = 0; n < N; ++n) sums.of[n] += more.of[n];
  }, streams...);
  fold_all<Sum>(r, sums.of, partials);
}

template <int N, class F>
FN void sum_cells(const Range& r, const Partial (&partials)[N], F f) {
  Sums<N> sums = {};
  for_cells(r, [&](Cell c) {
    const Sums<N> more = f(c);
    for (int n = 0; n < N; ++n) sums.of[n] += more.of[n];
  });
  fold_all<Sum>(r, sums.of, partials);
}

// Several maxima, where cells share values with those below and above: f(cell, below, here, above), each of them the result of
// `carried` in a cell. A column keeps it, so that nothing is loaded or computed twice.
template <int N, class Carried, class F>
FN void max_cells(const Range& r, const Partial (&partials)[N], Carried carried, F f) {
  Maxima<N> maxima;
  double values[N];
  for (int n = 0; n < N; ++n) maxima.of[n] = real(Max::identity());
  const Column c = column(r);
  if (c.any) {
    Index offset = c.i + c.j * r.y + c.begin * r.z;
    auto below = carried(Cell{c.i, c.j, c.begin - 1, offset - r.z});
    auto here = carried(Cell{c.i, c.j, c.begin, offset});
#pragma unroll UNROLLED
    for (int k = c.begin; k < c.end; ++k, offset += r.z) {
      const auto above = carried(Cell{c.i, c.j, k + 1, offset + r.z});
      const Maxima<N> more = f(Cell{c.i, c.j, k, offset}, below, here, above);
      for (int n = 0; n < N; ++n) maxima.of[n] = larger(maxima.of[n], more.of[n]);
      below = here, here = above;
    }
  }
  for (int n = 0; n < N; ++n) values[n] = maxima.of[n];
  fold_all<Max>(r, values, partials);
}
