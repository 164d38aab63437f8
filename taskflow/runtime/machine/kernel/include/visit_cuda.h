// Visits of cells on a GPU: a thread per (i, j) and column of UZ cells in k.
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
#define KERNEL extern "C" __global__ void __launch_bounds__(BX * BY, RESIDENT)
#else
#define KERNEL extern "C" __global__ void __launch_bounds__(BX * BY)
#endif
#ifdef LISTED
#define TASK FN void
#include "pieces_cuda.h"
#else
#define TASK KERNEL
#define BLOCK(r) blockIdx
#define BLOCKS(r) gridDim
#endif

#ifndef UNROLL
#define UNROLL (UZ < 8 ? UZ : 8)
#endif
constexpr int UNROLLED = UNROLL;  // cells of a column that are unrolled

// The column of this thread: the cells [begin, end).
struct Column {
  int i, j, begin, end, length;
  bool any;  // whether it is inside the range
};

// Columns of the first thread blocks are shorter, or empty, if the range is no multiple of their length: these blocks are slower,
// and would delay the end. The length of others keeps all processors busy (cuda_shape). If `pairs`, all but the first begin at
// even cells; if the range ends after an even cell, the last is a cell shorter.
FN Column column(const Range& r, bool pairs = false) {
  const int i = r.lo[0] + int(BLOCK(r).x * blockDim.x + threadIdx.x);
  const int j = r.lo[1] + int(BLOCK(r).y * blockDim.y + threadIdx.y);
  const int cells = r.hi[2] - r.lo[2], columns = int(BLOCKS(r).z);
  int length = UZ;
  if constexpr (UZ > 8) {
    length = (cells + columns - 1) / columns;
    const int unit = length < UNROLLED ? 2 : UNROLLED;  // few cells: short columns for more threads, not unrolled
    length = (length + unit - 1) / unit * unit;
  }
  const int shift = pairs ? r.hi[2] & 1 : 0, whole = r.hi[2] + shift - (columns - 1 - int(BLOCK(r).z)) * length;
  const int end = whole < r.hi[2] ? whole : r.hi[2];
  const int begin = BLOCK(r).z > 0 && whole - length > r.lo[2] ? whole - length : r.lo[2];
  return {i, j, begin, end, length, i < r.hi[0] && j < r.hi[1] && begin < end};
}

// Prefetches the streams that are only read.
FN void fetch_ahead(const real* q) { asm volatile("prefetch.global.L1 [%0];" ::"l"(q)); }
FN void fetch_ahead(real*) {}
FN void fetch_ahead(None) {}

// f(cell) for the cells of this thread's column. Columns of one cell have no other work while they wait for memory, so their
// `streams` are prefetched together: to save registers, the compiler loads the inputs of the last operations after the
// arithmetic of the first ones (momentum, see docs/notes/performance_log.md).
template <class F, class... Streams>
FN void for_cells(const Range& r, F f, Streams... streams) {
  const Column c = column(r);
  if (!c.any) return;
  const Index offset = c.i + c.j * r.y + c.begin * r.z;
  if constexpr (UZ == 1) {
    (fetch_ahead(streams + offset), ...);
    f(Cell{c.i, c.j, c.begin, offset});
  } else if (c.end - c.begin == c.length && c.length >= UNROLLED) {
    for (int n = 0; n < c.length; n += UNROLLED) {
#pragma unroll
      for (int m = n; m < n + UNROLLED; ++m) f(Cell{c.i, c.j, c.begin + m, offset + m * r.z});
    }
  } else {
#pragma unroll 1
    for (int n = 0; n < c.end - c.begin; ++n) f(Cell{c.i, c.j, c.begin + n, offset + n * r.z});
  }
}

// Here every cell takes the same time.
template <class F, class... Streams>
FN void split_rows(const Range& r, const InteriorAmid&, F f, Streams... streams) {
  for_cells(r, f, streams...);
}

// Prefetches UNROLLED planes of a field from k on, in the columns of this warp: each lane fetches 32 bytes.
template <class Number>
FN void fetch_planes(const Number* q, Index y, Index z, const Range& r, const Column& c, int k) {
  constexpr int in_row = sizeof(Number), at_once = 32 / in_row;  // lanes, planes
  const int lane = threadIdx.x & 31, i = c.i - lane + lane % in_row * (32 / in_row);
  if (i >= r.hi[0] || c.j >= r.hi[1]) return;
#pragma unroll
  for (int n = 0; n < UNROLLED; n += at_once) {
    const int plane = n + lane / in_row;
    if (plane < UNROLLED && k + plane < c.end) {
      asm volatile("prefetch.global.L1 [%0];" ::"l"(q + (i + c.j * y + (k + plane) * z)));
    }
  }
}
FN void fetch_planes(None, const Range&, const Column&, int) {}
FN void fetch_planes(const real* q, const Range& r, const Column& c, int k) { fetch_planes(q, r.y, r.z, r, c, k); }
template <class Number>
FN void fetch_planes(const ForeignOf<Number>& q, const Range& r, const Column& c, int k) {
  fetch_planes(q.field, q.y, q.z, r, c, k);
}

// few(cell), or many(inner cells) unrolled: UNROLLED cells that are all inside. The streams are prefetched as many
// cells ahead.
template <bool AMID = false, class Few, class Many, class... Streams>
FN void for_column(const Range& r, const Interior& in, Few few, Many many, Streams... streams) {
  const Column c = column(r, in.pairs);
  const bool between = c.j >= in.low[0] && c.j <= in.high[0];
  (fetch_planes(streams, r, c, c.begin), ...);
#pragma unroll 1
  for (int k = c.begin - (in.pairs ? c.begin & 1 : 0); k < c.end; k += UNROLLED) {
    if constexpr (UZ > UNROLLED) (fetch_planes(streams, r, c, k + UNROLLED), ...);
    if (!c.any) continue;
    const Index offset = c.i + c.j * r.y + k * r.z;
    const int last = k + UNROLLED - 1;
    if (between && k >= c.begin && k >= in.low[1] && last <= in.high[1] && last < c.end) {
      InnerOf<AMID> cells[UNROLLED];
#pragma unroll
      for (int n = 0; n < UNROLLED; ++n) cells[n] = {{c.i, c.j, k + n, offset + n * r.z}, n, (k >> 1) + n / 2, n & 1};
      many(cells);
    } else {
#pragma unroll 1
      for (int n = k < c.begin; n < UNROLLED && k + n < c.end; ++n) few(Cell{c.i, c.j, k + n, offset + n * r.z});
    }
  }
}

template <bool AMID = false, class F, class... Streams>
FN void for_cells(const Range& r, const Interior& in, F f, Streams... streams) {
  for_column<AMID>(
      r, in, f,
      [&](const InnerOf<AMID> (&cells)[UNROLLED]) {
#pragma unroll
        for (int n = 0; n < UNROLLED; ++n) f(cells[n]);
      },
      streams...);
}

// A warp that is amid does all of its column as such: a branch for every few cells would separate their loads.
template <class F, class... Streams>
FN void for_cells(const Range& r, const InteriorAmid& in, F f, Streams... streams) {
  const int i = r.lo[0] + int(BLOCK(r).x * blockDim.x + threadIdx.x);
  const Interior& inside = in;
  if (__all_sync(0xffffffffu, i >= in.left && i <= in.right)) {
    for_cells<true>(r, inside, f, streams...);
  } else {
    for_cells(r, inside, f, streams...);
  }
}

// f(cell) for the cells of a column in sequence, if f takes all registers. Warps whose cells are inner and amid call it with such
// cells, all others with plain ones, to avoid a third copy of its code. The streams are prefetched two planes ahead.
template <class F, class... Streams>
FN void for_columns(const Range& r, const InteriorAmid& in, F f, Streams... streams) {
  const Column c = column(r);
  const bool between = c.i >= in.left && c.i <= in.right && c.j >= in.low[0] && c.j <= in.high[0];
  const bool amid = __all_sync(0xffffffffu, c.any && between);
  if (!c.any) return;
  Index offset = c.i + c.j * r.y + c.begin * r.z;
#pragma unroll 1
  for (int k = c.begin; k < c.end; ++k, offset += r.z) {
    if (k + 2 < c.end) (fetch_ahead(streams + offset + 2 * r.z), ...);
    if (amid && k >= in.low[1] && k <= in.high[1]) {
      f(InnerOf<true>{{c.i, c.j, k, offset}, 0, k >> 1, k & 1});
    } else {
      f(Cell{c.i, c.j, k, offset});
    }
  }
}

// store(cell, load(cell)), where the second reads what the first changes, in that cell only: several loads precede the
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

// Lists the cells whose bits are set in `chosen`, of the UNROLLED ones of each lane, for all lanes of a warp: the lane, and 32 times
// the cell. Returns their number.
FN int listed(unsigned chosen, unsigned short* places) {
  const unsigned lane = (threadIdx.x + threadIdx.y * blockDim.x) & 31;
  int count = 0;
#pragma unroll
  for (unsigned n = 0; n < UNROLLED; ++n) {
    const bool here = chosen >> n & 1;
    const unsigned all = __ballot_sync(0xffffffffu, here);
    if (here) places[count + __popc(all & ((1u << lane) - 1))] = n << 5 | lane;
    count += __popc(all);
  }
  __syncwarp();
  return count;
}

// store(cell, any(cell)), where usual(cell) is a shorter equivalent wherever rare(cell) is false, as nearly everywhere. usual() is
// unrolled over all cells, so that no load waits for a branch. The lanes of a warp share its rare cells evenly: an interface
// crosses few of its columns, and the other lanes would wait.
template <bool AMID = false, class Usual, class Rare, class Any, class Store, class... Streams>
FN void most_cells(const Range& r, const Interior& in, Usual usual, Rare rare, Any any, Store store, Streams... streams) {
  __shared__ unsigned short places_of_warps[BX * BY / 32][32 * UNROLLED];
  const Column c = column(r, in.pairs);
  const unsigned thread = threadIdx.x + threadIdx.y * blockDim.x, first = thread & ~31u;
  unsigned short* const places = places_of_warps[thread / 32];
  const bool between = c.j >= in.low[0] && c.j <= in.high[0];
  (fetch_planes(streams, r, c, c.begin), ...);
#pragma unroll 1
  for (int k = c.begin - (in.pairs ? c.begin & 1 : 0); k < c.end; k += UNROLLED) {
    if constexpr (UZ > UNROLLED) (fetch_planes(streams, r, c, k + UNROLLED), ...);
    const Index offset = c.i + c.j * r.y + k * r.z;
    const int last = k + UNROLLED - 1;
    unsigned chosen = 0;
    if (c.any && between && k >= c.begin && k >= in.low[1] && last <= in.high[1] && last < c.end) {
      InnerOf<AMID> cells[UNROLLED];
      decltype(usual(cells[0])) values[UNROLLED];
#pragma unroll
      for (int n = 0; n < UNROLLED; ++n) {
        cells[n] = {{c.i, c.j, k + n, offset + n * r.z}, n, (k >> 1) + n / 2, n & 1};
        values[n] = usual(cells[n]), chosen |= unsigned(rare(cells[n])) << n;
      }
#pragma unroll
      for (int n = 0; n < UNROLLED; ++n)
        if (!(chosen >> n & 1)) store(cells[n], values[n]);
    } else if (c.any) {
      for (int n = 0; n < UNROLLED; ++n) chosen |= unsigned(k + n >= c.begin && k + n < c.end) << n;
    }
    if (!__any_sync(0xffffffffu, chosen)) continue;
    const int count = listed(chosen, places);
#pragma unroll 1
    for (int m = thread & 31; m < count; m += 32) {
      const unsigned place = places[m], owner = first | (place & 31), n = place >> 5;
      const int i = c.i + int(owner % blockDim.x) - int(threadIdx.x), j = c.j + int(owner / blockDim.x) - int(threadIdx.y);
      const Cell cell{i, j, k + int(n), i + j * r.y + (k + int(n)) * r.z};
      store(cell, any(cell));
    }
    __syncwarp();
  }
}

template <class Usual, class Rare, class Any, class Store, class... Streams>
FN void most_cells(const Range& r, const InteriorAmid& in, Usual usual, Rare rare, Any any, Store store, Streams... streams) {
  const int i = r.lo[0] + int(BLOCK(r).x * blockDim.x + threadIdx.x);
  const Interior& inside = in;
  if (__all_sync(0xffffffffu, i >= in.left && i <= in.right)) {
    most_cells<true>(r, inside, usual, rare, any, store, streams...);
  } else {
    most_cells(r, inside, usual, rare, any, store, streams...);
  }
}
