// Copies of tiles by thread blocks, and their march: see held.h.

// Starts to copy a number to an address in shared memory, in bytes; end_copies waits for all copies of this thread.
FN void begin_copy(unsigned place, const real* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(real)) : "memory");
}
FN void end_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// A cell of a tile, by its number: its distance from the first one, and its row. Cells without memory beyond a range are replaced
// by the last ones with memory.
struct TileCell {
  unsigned across, row;
};
FN int tile_row() { return blockDim.x + 2 * BEYOND; }
FN int tile_cells() { return tile_row() * (blockDim.y + 2 * BEYOND); }
FN int tile_corner(const Range& r, int axis) {
  return r.lo[axis] + int(axis == 0 ? BLOCK(r).x * blockDim.x : BLOCK(r).y * blockDim.y) - BEYOND;
}
FN TileCell tile_cell(const Range& r, int cell) {
  const int j = cell / tile_row(), i = cell - j * tile_row(), last_i = r.hi[0] + 1 - tile_corner(r, 0), last_j = r.hi[1] + 1 - tile_corner(r, 1);
  return {unsigned(i < last_i ? i : last_i), unsigned(j < last_j ? j : last_j) * unsigned(r.y)};
}

// Copies of a thread: COUNT cells of a tile for the largest thread block, more for smaller ones.
struct Copies {
  static constexpr int COUNT = (HELD_TILE + BX * BY - 1) / (BX * BY);
  TileCell cells[COUNT];
  unsigned place;
  int thread;
  INLINE Copies(const Range& r) : thread(threadIdx.y * blockDim.x + threadIdx.x) {
    place = unsigned(__cvta_generic_to_shared(held_memory)) + thread * unsigned(sizeof(real));
#pragma unroll
    for (int n = 0; n < COUNT; ++n) cells[n] = tile_cell(r, thread + n * blockDim.x * blockDim.y);
  }
  // copy(place, cell) for each of them
  template <class Copy>
  INLINE void operator()(const Range& r, int slot, Copy copy) const {
    const int threads = blockDim.x * blockDim.y, count = tile_cells();
    const auto to = [&](int n) { return place + unsigned(slot + n * threads) * unsigned(sizeof(real)); };
#pragma unroll
    for (int n = 0; n < COUNT; ++n)
      if (n + 1 < COUNT || thread + n * threads < count) copy(to(n), cells[n]);
    if (threads == BX * BY) return;
#pragma unroll 1
    for (int n = COUNT; thread + n * threads < count; ++n) copy(to(n), tile_cell(r, thread + n * threads));
  }
};

// Starts to copy tiles of fields, or of all values of one, from a plane.
template <int BEGIN, int END, int COUNT>
FN void copy_fields(const Copies& copies, const Range& r, const All<COUNT>& q, int k, int slot) {
  const Index plane = tile_corner(r, 0) + tile_corner(r, 1) * r.y + k * r.z;
  copies(r, slot, [&](unsigned place, TileCell cell) {
#pragma unroll
    for (int n = BEGIN; n < END; ++n)
      begin_copy(place + (n - BEGIN) * unsigned(HELD_TILE * sizeof(real)), q.of[n] + plane + (cell.across + cell.row));
  });
}
template <int VALUES>
FN void copy_values(const Copies& copies, const Range& r, InValues<VALUES> q, int k, int slot) {
  const Index plane = tile_corner(r, 0) + VALUES * (tile_corner(r, 1) * r.y + k * r.z);
  copies(r, slot, [&](unsigned place, TileCell cell) {
    const real* from = q.field + plane + (cell.across + VALUES * cell.row);
#pragma unroll
    for (int n = 0; n < VALUES; ++n, from += q.row) begin_copy(place + n * unsigned(HELD_TILE * sizeof(real)), from);
  });
}

// Buffers that alternate
template <int COUNT>
struct Ring {
  int of[COUNT];
  INLINE Ring(int first, int apart) {
#pragma unroll
    for (int n = 0; n < COUNT; ++n) of[n] = first + n * apart;
  }
  INLINE void turn() {
    const int first = of[0];
#pragma unroll
    for (int n = 1; n < COUNT; ++n) of[n - 1] = of[n];
    of[COUNT - 1] = first;
  }
};

// Positions of planes while a thread block works on plane k: of deep fields from k - 1 on, of others and of values from k on.
template <class Memory>
struct Rings {
  Ring<HELD_PLANES> deep{0, HELD_TILE * Memory::DEEP};
  Ring<HELD_PLANES - 1> values{Memory::valued, HELD_TILE * Memory::VALUES};
  Ring<HELD_PLANES - 2> flat{Memory::flat, HELD_TILE * Memory::FLAT};
  INLINE void turn() { deep.turn(), values.turn(), flat.turn(); }
  // A cell of the tile in this plane, and in the next one
  INLINE HeldPlace at(int x, int y) const {
    const int row = tile_row(), cell = (y + BEYOND) * row + x + BEYOND;
    return {{0, deep.of[0] + cell, deep.of[1] + cell, deep.of[2] + cell}, {0, 0, flat.of[0] + cell, 0},
            {0, 0, values.of[0] + cell, values.of[1] + cell}, row};
  }
  INLINE HeldPlace above(int x, int y) const {
    const HeldPlace here = at(x, y);
    return {{here.deep.below, here.deep.here, here.deep.above, deep.of[3] - deep.of[0] + here.deep.below},
            {0, here.flat.here, flat.of[1] - flat.of[0] + here.flat.here, 0}, {0, here.values.here, here.values.above, 0}, here.row};
  }
};

// A face of a thread, as `face_of` of faces_cuda.h. The cell may be outside the range, at most one away from it.
template <int D, class Through>
FN auto held_face(const Range& r, int i, int j, int k, const HeldPlace& at, Through through) {
  i = i < r.hi[0] ? i : r.hi[0], j = j < r.hi[1] ? j : r.hi[1];
  const int along = D == 0 ? i : D == 1 ? j : k;
  const bool end = along == r.lo[D] || along == r.hi[D];
  const auto cell = [&]() { return Cell{i, j, k, i + j * r.y + k * r.z}; };
  return __any_sync(0xffffffffu, end) ? through(HeldIn<FaceOf<D>>{{cell(), end}, at}) : through(HeldIn<FaceOf<D, true>>{{cell(), false}, at});
}

template <int N, int AXES, class Memory, int FIELDS, int OWN, class Through, class Update, class Valued>
FN void balance_held(const Range& r, Through through, Update update, const All<FIELDS>& around, const All<OWN>& own, Valued values) {
  static_assert(FIELDS == Memory::DEEP + Memory::FLAT && (AXES == 3 || Memory::FLAT == 0));
  __shared__ real buffers[BUFFERS][N][SHARED_FACES];
  const Column c = column(r);
  if (c.begin >= c.end) return;  // uniform over the thread block
  const int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y, count = width * height;
  const int corner_i = c.i - x, corner_j = c.j - y, thread = y * width + x, behind = count - width;
  const Copies tile(r);
  Rings<Memory> held;
  const auto copy = [&](int k) {  // a plane of deep fields and of values, and the one below it of others
    const int beside = AXES == 3 ? c.begin - 1 : c.begin;
    if (k > (AXES == 3 ? c.end + 1 : c.end - 1)) return;
    if (Memory::DEEP > 0 && k >= (AXES == 3 ? c.begin - 2 : c.begin)) copy_fields<0, Memory::DEEP>(tile, r, around, k, held.deep.of[HELD_PLANES - 1]);
    if constexpr (Memory::VALUES > 0) {
      if (k >= beside) copy_values(tile, r, values, k, held.values.of[HELD_PLANES - 2]);
    }
    if (Memory::FLAT > 0 && k - 1 >= beside) copy_fields<Memory::DEEP, FIELDS>(tile, r, around, k - 1, held.flat.of[HELD_PLANES - 3]);
  };
#pragma unroll 1
  for (int k = c.begin - HELD_PLANES; k < c.begin - 1; ++k, held.turn()) copy(k + HELD_PLANES - 2);

  Values<N> below = {};
  int turn = 0;
#pragma unroll 1
  for (int k = c.begin - 1; k < c.end; ++k, held.turn()) {
    const bool whole = k >= c.begin;  // not only the faces above this plane
    Values<N> above = {}, out, west, south;
    auto& shared = buffers[k & (BUFFERS - 1)];
    if constexpr (BUFFERS == 1) copy(k + HELD_PLANES - 2);
    if (whole) {
      if (c.any) {
        const Index cell = c.i + c.j * r.y + k * r.z;
#pragma unroll
        for (int n = 0; n < OWN; ++n) {
          if (n < Memory::OWN) begin_copy(tile.place + (Memory::owned + n * BX * BY) * unsigned(sizeof(real)), own.of[n] + cell);
          else fetch_ahead(own.of[n] + cell);
        }
      }
      // Beyond the last cells some threads do the faces across x, others those across y, before their own; other warps in each plane.
      const int me = thread + turn < count ? thread + turn : thread + turn - count, side = me < height ? me : 0, last = me < behind ? 0 : me - behind;
#pragma unroll 1
      for (int mine = (me & ~31) >= height; mine < 2; ++mine) {
        const int at_x = mine ? x : width, at_y = mine ? y : side;
        west = held_face<0>(r, corner_i + at_x, corner_j + at_y, k, held.at(at_x, at_y), through);
        if (!mine && me < height) put_face<0>(shared, width, me, west);
      }
#pragma unroll 1
      for (int mine = (me | 31) < behind; mine < 2; ++mine) {
        const int at_x = mine ? x : last, at_y = mine ? y : height;
        south = held_face<1>(r, corner_i + at_x, corner_j + at_y, k, held.at(at_x, at_y), through);
        if (mine ? y > 0 : me >= behind) put_face<1>(shared, at_x, at_y, south);
      }
      turn = turn + 32 < count ? turn + 32 : 0;
    }
    end_copies();
    __syncthreads();
    if constexpr (BUFFERS > 1) copy(k + HELD_PLANES - 2);
    if (whole) out = (of_next(west, shared) - west) + (shared_face<1>(shared, x, y + 1) - south);
    if constexpr (AXES == 3) above = held_face<2>(r, c.i, c.j, k + 1, held.above(x, y), through);
    if (whole) {
      if constexpr (AXES == 3) out = out + (above - below);
      if (c.any) update(HeldIn<Cell>{{c.i, c.j, k, c.i + c.j * r.y + k * r.z}, held.at(x, y)}, out);
    }
    below = above;
    if constexpr (BUFFERS == 1) __syncthreads();
  }
}
