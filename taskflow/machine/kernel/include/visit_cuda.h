// Who visits the cells on a GPU: a thread per (i, j) and column of UZ cells in k.
#ifndef UZ
#define UZ 1
#endif
#ifndef BX
#define BX 128
#endif
#ifndef BY
#define BY 4
#endif

#ifdef RESIDENT
#define TASK extern "C" __global__ void __launch_bounds__(BX * BY, RESIDENT)
#else
#define TASK extern "C" __global__ void __launch_bounds__(BX * BY)
#endif

constexpr int UNROLLED = UZ < 8 ? UZ : 8;  // cells of a column that the compiler sees side by side

// Begins to load what the streams lead to, those that are read only.
FN void fetch_ahead(const real* q) { asm volatile("prefetch.global.L1 [%0];" ::"l"(q)); }
FN void fetch_ahead(real*) {}

// f(cell) for the cells of this thread's column. The columns of the first thread blocks are shorter where the range is no
// multiple of UZ: they are slower, and would keep all others waiting at the end. Cells that are columns of their own have
// nothing else to do while they wait for memory, so their `streams` are fetched at once: the compiler saves registers by
// loading what is needed last after the arithmetic on what is needed first (momentum, see docs/performance.md).
template <class F, class... Streams>
FN void for_cells(const Range& r, F f, Streams... streams) {
  const int i = r.lo[0] + int(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = r.lo[1] + int(blockIdx.y * blockDim.y + threadIdx.y);
  const int rest = r.hi[2] - r.lo[2] - (int(gridDim.z) - 1) * UZ, full = rest == UZ || blockIdx.z;
  const int k = r.lo[2] + (blockIdx.z ? rest + (int(blockIdx.z) - 1) * UZ : 0);
  if (i >= r.hi[0] || j >= r.hi[1]) return;
  const Index offset = i + j * r.y + k * r.z;
  if constexpr (UZ == 1) {
    (fetch_ahead(streams + offset), ...);
    f(Cell{i, j, k, offset});
  } else if (full) {
#pragma unroll UNROLLED
    for (int n = 0; n < UZ; ++n) f(Cell{i, j, k + n, offset + n * r.z});
  } else {
#pragma unroll 1
    for (int n = 0; n < rest; ++n) f(Cell{i, j, k + n, offset + n * r.z});
  }
}

// The column of this thread, as above: it has `cells` from k on, none where the thread is beyond the range.
struct Column {
  int i, j, k, cells;
};

FN Column column(const Range& r) {
  const int i = r.lo[0] + int(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = r.lo[1] + int(blockIdx.y * blockDim.y + threadIdx.y);
  const int rest = r.hi[2] - r.lo[2] - (int(gridDim.z) - 1) * UZ;
  const int k = r.lo[2] + (blockIdx.z ? rest + (int(blockIdx.z) - 1) * UZ : 0);
  return {i, j, k, i < r.hi[0] && j < r.hi[1] ? (blockIdx.z ? UZ : rest) : 0};
}

template <class Number>
FN void fetch_ahead(const ForeignOf<Number>& q, int i, int j, int k, Index) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(q.field + (i + j * q.y + k * q.z)));
}
FN void fetch_ahead(const real* q, int, int, int, Index offset) { fetch_ahead(q + offset); }

// few(cell) or, side by side, many(inner cells): UNROLLED cells that all are inside. What the streams lead to is fetched
// as many cells ahead.
template <class Few, class Many, class... Streams>
FN void for_column(const Range& r, const Interior& in, Few few, Many many, Streams... streams) {
  const Column c = column(r);
  const bool between = c.j >= in.low[0] && c.j <= in.high[0];
  const int end = c.k + c.cells;
  const auto fetch = [&](int from) {
    if (from + UNROLLED > end) return;
#pragma unroll
    for (int n = 0; n < UNROLLED; ++n) (fetch_ahead(streams, c.i, c.j, from + n, c.i + c.j * r.y + (from + n) * r.z), ...);
  };
  if constexpr (sizeof...(streams) > 0) fetch(c.k);
#pragma unroll 1
  for (int k = c.k; k < end; k += UNROLLED) {
    if constexpr (sizeof...(streams) > 0 && UZ > UNROLLED) fetch(k + UNROLLED);
    const Index offset = c.i + c.j * r.y + k * r.z;
    const int last = k + UNROLLED - 1;
    if (between && k >= in.low[1] && last <= in.high[1] && last < end && !(in.pairs && k & 1)) {
      Inner cells[UNROLLED];
#pragma unroll
      for (int n = 0; n < UNROLLED; ++n) cells[n] = Inner{{c.i, c.j, k + n, offset + n * r.z}, (k >> 1) + n / 2, n & 1};
      many(cells);
    } else {
#pragma unroll 1
      for (int n = 0; n < UNROLLED && k + n < end; ++n) few(Cell{c.i, c.j, k + n, offset + n * r.z});
    }
  }
}

template <class F, class... Streams>
FN void for_cells(const Range& r, const Interior& in, F f, Streams... streams) {
  for_column(
      r, in, f,
      [&](const Inner (&cells)[UNROLLED]) {
#pragma unroll
        for (int n = 0; n < UNROLLED; ++n) f(cells[n]);
      },
      streams...);
}

// store(cell, load(cell)) where the second reads what the first changes, in that cell alone: several loads come before the
// stores, which later loads would wait for.
template <class Load, class Store, class... Streams>
FN void change_cells(const Range& r, const Interior& in, Load load, Store store, Streams... streams) {
  for_column(
      r, in, [&](Cell c) { store(c, load(c)); },
      [&](const Inner (&cells)[UNROLLED]) {
        decltype(load(cells[0])) values[UNROLLED];
#pragma unroll
        for (int n = 0; n < UNROLLED; ++n) values[n] = load(cells[n]);
#pragma unroll
        for (int n = 0; n < UNROLLED; ++n) store(cells[n], values[n]);
      },
      streams...);
}

// The values of all threads of a block (whole warps) folded in a fixed order; thread 0 has the result.
template <class Op>
FN double fold_block(double value) {
  __shared__ double warps[32];
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  for (int n = 16; n; n /= 2) {
    const double other = __shfl_down_sync(0xffffffffu, value, n);
    if ((me & 31) + n < 32) value = Op::fold(value, other);
  }
  if ((me & 31) == 0) warps[me / 32] = value;
  __syncthreads();
  if (me == 0)
    for (int n = 1; n < size / 32; ++n) value = Op::fold(value, warps[n]);
  return value;
}

// *result = the values of all threads folded: by thread block, and by the last block to finish the blocks' parts, in order.
template <class Op>
FN void fold_all(double value, Partial partial) {
  value = fold_block<Op>(value);
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  const int size = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  __shared__ bool last;
  if (me == 0) {
    partial.parts[(Index(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = value;
    __threadfence();
    last = atomicAdd(partial.ticket, 1u) == blocks - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  value = Op::identity();
  for (unsigned b = me; b < blocks; b += size) value = Op::fold(value, __ldcg(partial.parts + b));
  value = fold_block<Op>(value);
  if (me == 0) {
    *partial.result = value;
    *partial.ticket = 0;
  }
}

// *result = f(cell) folded over the range: columns, then as above.
template <class Op, class F>
FN void reduce_cells(const Range& r, Partial partial, Op, F f) {
  double value = Op::identity();
  for_cells(r, [&](Cell c) { value = Op::fold(value, f(c)); });
  fold_all<Op>(value, partial);
}

template <class Op, class F, class... Streams>
FN void reduce_cells(const Range& r, const Interior& in, Partial partial, Op, F f, Streams... streams) {
  double value = Op::identity();
  for_cells(r, in, [&](auto c) { value = Op::fold(value, f(c)); }, streams...);
  fold_all<Op>(value, partial);
}

// Several sums at once: f(cell) is a Sums<N>.
template <int N, class F, class... Streams>
FN void sum_cells(const Range& r, const Interior& in, const Partial (&partials)[N], F f, Streams... streams) {
  Sums<N> sums = {};
  for_cells(r, in, [&](auto c) {
    const Sums<N> more = f(c);
    for (int n = 0; n < N; ++n) sums.of[n] += more.of[n];
  }, streams...);
  for (int n = 0; n < N; ++n) fold_all<Sum>(sums.of[n], partials[n]);
}

template <int N, class F>
FN void sum_cells(const Range& r, const Partial (&partials)[N], F f) {
  Sums<N> sums = {};
  for_cells(r, [&](Cell c) {
    const Sums<N> more = f(c);
    for (int n = 0; n < N; ++n) sums.of[n] += more.of[n];
  });
  for (int n = 0; n < N; ++n) fold_all<Sum>(sums.of[n], partials[n]);
}
