// How a GPU folds what cells have, in a fixed order: by thread block, over all thread blocks, over pieces.

// The values of all threads of a block (whole warps) folded in a fixed order, several at once; thread 0 has the results.
template <class Op, int N>
FN void fold_block(double (&values)[N]) {
  __shared__ double warps[N][32];
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  for (int m = 0; m < N; ++m) {
    for (int n = 16; n; n /= 2)  // right in lanes below n
      values[m] = Op::fold(values[m], __shfl_down_sync(0xffffffffu, values[m], n));
    if ((me & 31) == 0) warps[m][me / 32] = values[m];
  }
  __syncthreads();
  if (me > 0) return;
  for (int n = 1; n < size / 32; ++n)
    for (int m = 0; m < N; ++m) values[m] = Op::fold(values[m], warps[m][n]);
}

#ifdef LISTED
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
#endif

// *result = the values of all threads folded: by thread block, and by the last block to finish the blocks' parts, in order.
template <class Op, int N>
FN void fold_all(double (&values)[N], const Partial (&partials)[N]) {
  fold_block<Op>(values);
  const unsigned blocks = blocks_of(partials[0]);
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  __shared__ bool last;
  if (me == 0) {
    const Index block = block_of(partials[0]);
    for (int m = 0; m < N; ++m) partials[m].parts[block] = values[m];
    __threadfence();
    last = atomicAdd(partials[0].ticket, 1u) == blocks - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int m = 0; m < N; ++m) {
    values[m] = Op::identity();
    for (unsigned b = me; b < blocks; b += size) values[m] = Op::fold(values[m], __ldcg(partials[m].parts + b));
  }
  fold_block<Op>(values);
#ifdef LISTED
  fold_pieces<Op>(values, partials);
#else
  if (me > 0) return;
  for (int m = 0; m < N; ++m)
    *partials[m].result = partials[m].before ? Op::fold(*partials[m].before, values[m]) : values[m];
  *partials[0].ticket = 0;
#endif
}

// *result = f(cell) folded over the range: columns, then as above.
template <class Op, class F>
FN void reduce_cells(const Range& r, Partial partial, Op, F f) {
  double value[] = {Op::identity()};
  for_cells(r, [&](Cell c) { value[0] = Op::fold(value[0], f(c)); });
  fold_all<Op>(value, {partial});
}

template <class In = Interior, class Op, class F, class... Streams>
FN void reduce_cells(const Range& r, const In& in, Partial partial, Op, F f, Streams... streams) {
  double value[] = {Op::identity()};
  for_cells(r, in, [&](auto c) { value[0] = Op::fold(value[0], f(c)); }, streams...);
  fold_all<Op>(value, {partial});
}

// Several sums at once: f(cell) is a Sums<N>.
template <int N, class In = Interior, class F, class... Streams>
FN void sum_cells(const Range& r, const In& in, const Partial (&partials)[N], F f, Streams... streams) {
  Sums<N> sums = {};
  for_cells(r, in, [&](auto c) {
    const Sums<N> more = f(c);
    for (int n = 0; n < N; ++n) sums.of[n] += more.of[n];
  }, streams...);
  fold_all<Sum>(sums.of, partials);
}

template <int N, class F>
FN void sum_cells(const Range& r, const Partial (&partials)[N], F f) {
  Sums<N> sums = {};
  for_cells(r, [&](Cell c) {
    const Sums<N> more = f(c);
    for (int n = 0; n < N; ++n) sums.of[n] += more.of[n];
  });
  fold_all<Sum>(sums.of, partials);
}

// Several maxima at once where cells have something in common with those below and above: f(cell, below, here, above), each
// of these being what `carried` finds in a cell. A column takes it along, so that nothing is loaded or computed twice.
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
  fold_all<Max>(values, partials);
}
