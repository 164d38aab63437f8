#pragma once
// Sweeps over cells of ROWS unknowns, whose values and whose neighbours' are bound by matrices of ROWS x ROWS, as in the triangular
// solves with blocks. A GPU has a thread for each row of a cell, so that threads read what lies side by side, and keeps the values of
// a tile in its shared memory; a CPU does all rows of a cell at once. A thread has OWN rows, from `row` on. What has to be known:
//
//   struct Solve {
//     INLINE void fetch(c, row) const;                         // asks for what will be loaded
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

static_assert(OWN == ROWS || 32 % ROWS == 0, "a warp has whole cells");

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
  const Index other = c + beyond(r, side);
  real z[ROWS];
  for (int n = 0; n < ROWS; ++n) z[n] = t.value(other, n);
  t.bring(c, row, side, z, sums);
}

// A cell of which nothing is kept or loaded ahead
template <class D, class T>
FN void sweep_row(const Range& r, const T& t, const SweptCell& c, int row) {
  real sums[OWN], old[OWN], all[ROWS], values[OWN];
  t.begin(c, row, sums, old);
  if (c.outside) {
#pragma unroll
    for (int side = 0; side < 6; ++side)
      if (c.outside >> side & 1) bring_from_memory(r, t, c, row, side, sums);
  }
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const int side = 2 * axis + (D::way < 0);
    if ((c.sides & ~c.outside) >> side & 1) bring_from_memory(r, t, c, row, side, sums);
  }
  gather(sums, all);
  t.end(t.ahead(c, row), all, old, values);
  t.store(c, row, values);
}

#ifdef GPU
struct alignas(16) Unknowns {
  real of[ROWS];
};

// All cells of a tile that has no more than a thread block keeps, whose threads share them: f(cell, number in the tile)
template <class D, class F>
FN void share_cells(const TileCells<D>& all, int threads, int mine, F f) {
  const int along[3] = {threads % all.nx, threads / all.nx % all.ny, threads / all.nx / all.ny};
  int x = mine % all.nx, y = mine / all.nx % all.ny, z = mine / all.nx / all.ny;
  for (int n = mine; n < all.count; n += threads) {
    f(TileColumn<D>(all, y, z).cell(x), n);
    x += along[0], y += along[1], z += along[2];
    if (x >= all.nx) x -= all.nx, ++y;
    if (y >= all.ny) y -= all.ny, ++z;
  }
}

#ifdef SINGLE
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& t) {
  SweptCell c;
  if (cell_of_thread<D>(r, s, int(threadIdx.x) / ROWS, int(blockDim.x) / ROWS, c)) sweep_row<D>(r, t, c, int(threadIdx.x) % ROWS);
}
#elif defined(WHOLE)
// What a thread loads of a cell before its step: at the edge of a bundle, what those before it have left in memory, too
template <class T>
struct Loaded {
  typename T::Ahead ahead;
  real sums[OWN], old[OWN], edge[2][OWN];
};

template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& t) {
  constexpr int ahead_by = 3, low = D::way < 0 ? 1 : 0;
  __shared__ Unknowns kept[2][MOST_COLUMNS];  // of the last step and of this one
  const int row = int(threadIdx.x) % ROWS;
  Loaded<T> next = {};
  sweep_whole<D>(r, s, ROWS, [&](const TileColumn<D>& column, int mine, int step, int x) {
    const int before[3] = {mine, mine - D::way, mine - D::way * column.all.ny};
    const bool edges[2] = {column.y == (low ? column.all.ny - 1 : 0), column.z == (low ? column.all.nz - 1 : 0)};
    const auto bound = [&](int axis) { return column.sides >> (2 * axis + low) & 1; };
    const Loaded<T> now = next;
    if (column.has(x + D::way)) {
      const SweptCell c = column.cell(x + D::way);
      next.ahead = t.ahead(c, row);
      t.begin(c, row, next.sums, next.old);
#pragma unroll
      for (int a = 1; a < 3; ++a)
        if (edges[a - 1] && bound(a)) next.edge[a - 1][0] = t.value(c + beyond(r, 2 * a + low), row);
    }
    if (column.has(x + ahead_by * D::way)) t.fetch(column.cell(x + ahead_by * D::way), row);
    if (!column.has(x)) return;
    const SweptCell c = column.cell(x);
    real sums[OWN] = {now.sums[0]}, all[ROWS], values[OWN];
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      if (!(c.sides >> (2 * a + low) & 1)) continue;
      real z[ROWS];
      if (a > 0 && edges[a - 1]) {
        gather(now.edge[a - 1], z);
      } else {
        for (int n = 0; n < ROWS; ++n) z[n] = kept[(step + 1) & 1][before[a]].of[n];
      }
      t.bring(now.ahead, 2 * a + low, z, sums);
    }
    gather(sums, all);
    t.end(now.ahead, all, now.old, values);
    kept[step & 1][mine].of[row] = values[0];
    t.store(c, row, values);
  });
}
#else
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& t) {
  __shared__ Unknowns sums[ROOM], olds[ROOM];  // sums become values
  TileOf tile;
  if (!tile_of_block(r, s, D::way, tile)) return;
  const TileCells<D> all{r, tile};
  const int threads = int(blockDim.x) / ROWS, mine = int(threadIdx.x) / ROWS, row = int(threadIdx.x) % ROWS;
  bool whole = all.columns <= threads && 0 < all.count && all.count <= ROOM;
  for (int a = 0; a < 3; ++a) whole = whole && tile.lo[a] == tile.low[a] && tile.hi[a] == tile.high[a];
  if (!whole) return sweep_many(all, threads, mine, [&](const SweptCell& c) { sweep_row<D>(r, t, c, row); });

  share_cells(all, threads, mine, [&](const SweptCell& c, int n) {
    real sum[OWN], old[OWN];
    t.begin(c, row, sum, old);
    sums[n].of[row] = sum[0], olds[n].of[row] = old[0];
  });
  __syncthreads();
#pragma unroll
  for (int side = 0; side < 6; ++side) {
    if (!(tile.outside >> side & 1)) continue;
    const int last = side & 1, across = side < 2 ? all.ny : all.nx, face = across * (side < 4 ? all.nz : all.ny);
    for (int n = mine; n < face; n += threads) {
      const int one = n % across, two = n / across, x = side < 2 ? last * (all.nx - 1) : one;
      const int y = side < 2 ? one : side < 4 ? last * (all.ny - 1) : two, z = side < 4 ? two : last * (all.nz - 1);
      real& sum = sums[(z * all.ny + y) * all.nx + x].of[row];
      real own[OWN] = {sum};
      bring_from_memory(r, t, TileColumn<D>(all, y, z).cell(x), row, side, own);
      sum = own[0];
    }
    __syncthreads();
  }
  const int steps[3] = {1, all.nx, all.nx * all.ny};
  const auto fetch = [&](const SweptCell& c) { t.fetch(c, row); };
  const auto load = [&](const SweptCell& c) { return t.ahead(c, row); };
  sweep_one(all, mine, fetch, load, [&](const SweptCell& c, int n, const typename T::Ahead& ahead) {
    real sum[OWN] = {sums[n].of[row]}, gathered[ROWS], value[OWN];
    const real old[OWN] = {olds[n].of[row]};
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const int side = 2 * a + (D::way < 0);
      if ((c.sides & ~c.outside) >> side & 1) t.bring(ahead, side, sums[n - D::way * steps[a]].of, sum);
    }
    gather(sum, gathered);
    t.end(ahead, gathered, old, value);
    sums[n].of[row] = value[0];
  });
  share_cells(all, threads, mine, [&](const SweptCell& c, int n) {
    const real value[OWN] = {sums[n].of[row]};
    t.store(c, row, value);
  });
}
#endif
#else
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D way, const T& t) {
  sweep_cells(r, s, way, [=](const SweptCell& c) { sweep_row<D>(r, t, c, 0); });
}
#endif
