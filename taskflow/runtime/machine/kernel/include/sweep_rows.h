#pragma once
// Sweeps over cells of ROWS unknowns, whose values and whose neighbours' are bound by matrices of ROWS x ROWS, as in the triangular
// solves with blocks. A GPU has a thread for each row of a cell, so that threads read what lies side by side, and keeps the values of
// a tile in its shared memory; a CPU does all rows of a cell at once. A thread has OWN rows, from `row` on. What has to be known:
//
//   struct Solve {
//     struct Ahead {...};                                      // what is loaded before it is needed
//     INLINE Ahead ahead(c, row) const;                        // ... of a cell: for earlier neighbours in the same tile, too
//     INLINE void begin(c, row, sums, old) const;              // sums before neighbours bring anything, and values before the sweep
//     INLINE void bring(c, row, side, z, sums) const;          // takes what the neighbour beyond a side brings, whose values are z
//     INLINE void bring(ahead, side, z, sums) const;           // the same, from what was loaded
//     INLINE void end(ahead, all, old, values) const;          // the values, from the sums of all rows
//     INLINE real value(index, n) const;                       // of a cell that is done
//     INLINE void store(c, row, values) const;
//   };
//
// The neighbours in other tiles come first, in the order of sides, then those in the same tile.
#ifdef GPU
constexpr int OWN = 1, ROOM = 512;  // rows of a thread; cells of a tile whose values are kept
#else
constexpr int OWN = ROWS;
#endif

// The sums of all rows of a cell, from those of a thread
FN void gather(const real (&own)[OWN], real (&all)[ROWS]) {
#ifdef GPU
  const unsigned first = threadIdx.x % 32 / ROWS * ROWS, these = ((1u << ROWS) - 1) << first;
#pragma unroll
  for (int n = 0; n < ROWS; ++n) all[n] = __shfl_sync(these, own[0], first + n);
#else
  for (int n = 0; n < ROWS; ++n) all[n] = own[n];
#endif
}

template <class T>
FN void bring_from_memory(const Range& r, const T& t, const SweptCell& c, int row, int side, real (&sums)[OWN]) {
  const Index there = c + beyond(r, side);
  real z[ROWS];
  for (int n = 0; n < ROWS; ++n) z[n] = t.value(there, n);
  t.bring(c, row, side, z, sums);
}

// A cell of which nothing is kept or loaded ahead
template <class T>
FN void sweep_row(const Range& r, const T& t, const SweptCell& c, int row) {
  real sums[OWN], old[OWN], all[ROWS], values[OWN];
  t.begin(c, row, sums, old);
#pragma unroll
  for (int side = 0; side < 6; ++side)
    if (c.outside >> side & 1) bring_from_memory(r, t, c, row, side, sums);
#pragma unroll
  for (int side = 0; side < 6; ++side)
    if ((c.sides & ~c.outside) >> side & 1) bring_from_memory(r, t, c, row, side, sums);
  gather(sums, all);
  t.end(t.ahead(c, row), all, old, values);
  t.store(c, row, values);
}

#ifdef GPU
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& t) {
  static_assert(32 % ROWS == 0, "a warp has whole cells");
  __shared__ real sums[ROOM][ROWS], olds[ROOM][ROWS];
  TileOf tile;
  if (!tile_of_block(r, s, D::way, tile)) return;
  const Columns<D> all{r, tile};
  const int threads = int(blockDim.x) / ROWS, mine = int(threadIdx.x) / ROWS, row = int(threadIdx.x) % ROWS;
  const int nx = all.nx, cells = nx * all.count;
  bool whole = all.count <= threads && cells <= ROOM;
  for (int a = 0; a < 3; ++a) whole = whole && tile.lo[a] == tile.low[a] && tile.hi[a] == tile.high[a];
  if (!whole) return sweep_many(all, threads, mine, [&](const SweptCell& c) { sweep_row(r, t, c, row); });

  for (int n = mine; n < cells; n += threads) {
    real sum[OWN], old[OWN];
    t.begin(all.cell(n / nx, n % nx), row, sum, old);
    sums[n][row] = sum[0], olds[n][row] = old[0];
  }
  __syncthreads();
#pragma unroll
  for (int side = 0; side < 6; ++side) {
    if (!(tile.outside >> side & 1)) continue;
    const int last = side & 1, face = side < 2 ? all.count : cells / (side < 4 ? all.ny : all.nz);
    for (int n = mine; n < face; n += threads) {
      const int column = side < 2 ? n : side < 4 ? n / nx * all.ny + last * (all.ny - 1) : n / nx + last * all.ny * (all.nz - 1);
      const int x = side < 2 ? last * (nx - 1) : n % nx;
      real sum[OWN] = {sums[column * nx + x][row]};
      bring_from_memory(r, t, all.cell(column, x), row, side, sum);
      sums[column * nx + x][row] = sum[0];
    }
    __syncthreads();
  }

  const bool idle = mine >= all.count;
  SweptCell next = all.cell(idle ? 0 : mine, D::way > 0 || idle ? 0 : nx - 1);
  auto ahead = idle ? typename T::Ahead{} : t.ahead(next, row);
  const Index steps[3] = {1, nx, nx * all.ny};
  for (int step = 0; step < all.steps; ++step) {
    const int x = idle ? -1 : all.x(step, mine);
    if (x >= 0 && x < nx) {
      const unsigned inside = next.sides & ~next.outside;
      const auto now = ahead;
      if (x + D::way >= 0 && x + D::way < nx) next = all.cell(mine, x + D::way), ahead = t.ahead(next, row);
      const int n = mine * nx + x;
      real sum[OWN] = {sums[n][row]}, old[OWN] = {olds[n][row]}, gathered[ROWS], value[OWN];
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        constexpr int ODD = D::way < 0;
        if (inside >> (2 * a + ODD) & 1) t.bring(now, 2 * a + ODD, sums[n - D::way * steps[a]], sum);
      }
      gather(sum, gathered);
      t.end(now, gathered, old, value);
      sums[n][row] = value[0];
    }
    __syncthreads();
  }
  for (int n = mine; n < cells; n += threads) {
    const real value[OWN] = {sums[n][row]};
    t.store(all.cell(n / nx, n % nx), row, value);
  }
}
#else
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D way, const T& t) {
  sweep_cells(r, s, way, [=](const SweptCell& c) { sweep_row(r, t, c, 0); });
}
#endif
