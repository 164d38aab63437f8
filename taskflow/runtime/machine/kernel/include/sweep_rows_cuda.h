// A GPU has ROWS threads for the COUNT rows of a cell, so that threads read contiguous memory, and keeps the values of a tile in
// shared memory. Threads without a row do the work of the last one, and store nothing that others read. Interface of a solve:
//
//   struct Solve {
//     static constexpr int COUNT = ...;                        // rows of a cell, at most ROWS
//     INLINE Solve of_row(row) const;                          // precomputed for the row of a thread
//     INLINE void fetch(c, row) const;                         // prefetches the data of a cell
//     struct Ahead {...};                                      // data that are loaded ahead
//     INLINE Ahead ahead(c, row, sides) const;                 // ... of a cell, including these neighbours
//     INLINE void begin(c, sum, old) const;                    // the sum without neighbours, and the value before the sweep
//     INLINE void bring(c, row, side, z, sum) const;           // adds the term of the neighbour beyond a side, with values z
//     INLINE void bring(ahead, side, z, sum) const;            // the same, from loaded data
//     INLINE real end(ahead, all, old) const;                  // the value, from the sums of all rows
//     INLINE real value(index, n) const;                       // of a finished cell
//     struct Way {...};                                        // a thread's path through a column, from a cell on, with
//     INLINE Way way(c, row, ahead_by) const;                  //   load(sides, ahead), begin(sum, old), beyond(n, distance) and
//                                                              //   store(n, value) n cells on, fetch() and go_on()
//     INLINE void store(c, value) const;
//   };
constexpr int ROOM = 512;  // cells of a tile whose values are kept

static_assert(32 % ROWS == 0, "a warp has whole cells");

// The row of a thread
template <class T>
FN int row_of_thread() {
  const int row = int(threadIdx.x) % ROWS;
  return T::COUNT < ROWS && row >= T::COUNT ? T::COUNT - 1 : row;
}
// Whether a thread has one
template <class T>
FN bool has_row() { return T::COUNT == ROWS || int(threadIdx.x) % ROWS < T::COUNT; }

// The sums of all rows of a cell, from the sums of the threads `these`
template <int N>
FN void gather(real own, real (&all)[N], unsigned these) {
#pragma unroll
  for (int n = 0; n < N; ++n) all[n] = __shfl_sync(these, own, n, ROWS);
}
// The threads with the rows of one cell
FN unsigned together() { return ((1u << ROWS) - 1) << (threadIdx.x % 32 / ROWS * ROWS); }

template <class T>
FN void bring_from_memory(const Range& r, const T& t, const SweptCell& c, int row, int side, real& sum) {
  const Index other = c + beyond(r, side);
  real z[T::COUNT];
  for (int n = 0; n < T::COUNT; ++n) z[n] = t.value(other, n);
  t.bring(c, row, side, z, sum);
}

// A cell without kept or preloaded values, done by the threads `these`, some of which may be idle
template <class D, class T>
FN void sweep_row(const Range& r, const T& t, const SweptCell& c, int row, unsigned these, bool present = true) {
  real sum, old, all[T::COUNT];
  t.begin(c, sum, old);
  if (c.outside) {
#pragma unroll
    for (int side = 0; side < 6; ++side)
      if (c.outside >> side & 1) bring_from_memory(r, t, c, row, side, sum);
  }
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const int side = 2 * axis + (D::way < 0);
    if ((c.sides & ~c.outside) >> side & 1) bring_from_memory(r, t, c, row, side, sum);
  }
  gather(sum, all, these);
  const real value = t.end(t.ahead(c, row, 0), all, old);
  if (present) t.store(c, value);
}

template <class T>
struct alignas(16) Unknowns {
  real of[T::COUNT];
};

// All cells of a tile that fits into the kept values, shared by the threads of a block: f(cell, number in the tile)
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

// A row of a cell, from its loaded data and the values of the `bound` neighbours before it. Called by whole warps, so that
// nothing branches.
template <class D, class T>
FN real row_of_cell(const T& t, const typename T::Ahead& ahead, real sum, real old, unsigned bound, const Unknowns<T>* const (&before)[3]) {
  real all[T::COUNT];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const int side = 2 * a + (D::way < 0);
    const Unknowns<T> z = *before[a];
    real with = sum;
    t.bring(ahead, side, z.of, with);
    sum = bound >> side & 1 ? with : sum;
  }
  gather(sum, all, 0xffffffffu);
  return t.end(ahead, all, old);
}

// All loads of a loop share one of a warp's few scoreboards: waiting for the loads of a cell waits for all later ones too. So the
// loads of the next cell start when those of this one have arrived. Test this first: its result, nearly always false, is irrelevant.
template <class L>
FN unsigned arrived(const L& loaded) {
  unsigned word;
  memcpy(&word, &loaded, sizeof word);
  return word == 0x7fe1b10c;
}

// Two of a kind, with compile-time indices: in registers
template <class L>
struct Two {
  L even = {}, odd = {};
  template <int N>
  INLINE L& get() {
    if constexpr (N == 0) return even;
    else return odd;
  }
};

#ifdef SINGLE
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& all) {
  SweptCell c;
  const int row = row_of_thread<T>();
  const bool present = cell_of_thread<D>(r, s, int(threadIdx.x) / ROWS, int(blockDim.x) / ROWS, c);
  if (!__any_sync(0xffffffffu, present)) return;
  if (!present) c = single_cell<D>(r, s, r.lo[0], r.lo[1], r.lo[2]);
  sweep_row<D>(r, all.of_row(row), c, row, 0xffffffffu, present);
}
#elif defined(WHOLE)
// The data that a thread loads of a cell before its step; at the edges of a bundle also the results of preceding bundles
template <class T>
struct Loaded {
  typename T::Ahead ahead;
  real sum, old;
};
struct Edges {
  real of[2];
};

// A cell is loaded once the second cell before it is done, into the registers that become free.
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& t) {
  constexpr int ahead_by = 2, low = D::way < 0 ? 1 : 0;
  __shared__ Unknowns<T> kept[2][3 * MOST_COLUMNS];  // of even and of odd steps: of columns, and of cells before edges
  const int row = row_of_thread<T>();
  sweep_whole<D, ahead_by>(r, s, ROWS, [&](const TileColumn<D>& column, int mine) {
    const TileCells<D>& all = column.all;
    const bool edges[2] = {column.y == (low ? all.ny - 1 : 0), column.z == (low ? all.nz - 1 : 0)};
    const int y = edges[0] ? MOST_COLUMNS + mine : mine - D::way, z = edges[1] ? 2 * MOST_COLUMNS + mine : mine - D::way * all.ny;
    const bool outer[2] = {edges[0] && column.sides >> (2 + low) & 1, edges[1] && column.sides >> (4 + low) & 1};
    const int start = low ? all.nx - 1 : 0;
    const auto begun = t.of_row(row).way(column.cell(column.x(0)), row, 0);
    return [=, &column, way = begun, loaded = Two<Loaded<T>>(), beside = Two<Edges>()](int, int x, auto parity) mutable {
      constexpr int P = decltype(parity)::of;
      Loaded<T>& one = loaded.template get<P>();
      const Edges& edge = beside.template get<P>();
      const bool present = column.has(x);
      if (column.has(x + D::way)) {
        Edges& next = beside.template get<1 - P>();
        if (outer[0]) next.of[0] = way.beyond(-1, beyond(r, 2 + low));
        if (outer[1]) next.of[1] = way.beyond(-1, beyond(r, 4 + low));
      }
      if (__any_sync(0xffffffffu, present)) {
        if (edges[0]) kept[1 - P][MOST_COLUMNS + mine].of[row] = edge.of[0];
        if (edges[1]) kept[1 - P][2 * MOST_COLUMNS + mine].of[row] = edge.of[1];
        __syncwarp();
        const unsigned sides = (column.sides & ~3u) | (x == start ? 0u : 1u << low);
        const Unknowns<T>* const before[3] = {&kept[1 - P][mine], &kept[1 - P][y], &kept[1 - P][z]};
        const real value = row_of_cell<D>(t, one.ahead, one.sum, one.old, sides, before);
        if (present) {
          kept[P][mine].of[row] = value;
          way.store(-ahead_by, value);
        }
      }
      if (column.has(x + ahead_by * D::way)) way.load(0x3f, one.ahead), way.begin(one.sum, one.old);
      way.go_on();
    };
  });
}
#else
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D, const T& whole) {
  __shared__ Unknowns<T> sums[ROOM], olds[ROOM];  // sums become values
  TileOf tile;
  if (!tile_of_block(r, s, D::way, tile)) return;
  const TileCells<D> all{r, tile};
  const int threads = int(blockDim.x) / ROWS, mine = int(threadIdx.x) / ROWS, row = row_of_thread<T>();
  const T t = whole.of_row(row);
  bool fits = all.columns <= threads && 0 < all.count && all.count <= ROOM;
  for (int a = 0; a < 3; ++a) fits = fits && tile.lo[a] == tile.low[a] && tile.hi[a] == tile.high[a];
  if (!fits) return sweep_many(all, threads, mine, [&](const SweptCell& c) { sweep_row<D>(r, t, c, row, together()); });

  share_cells(all, threads, mine, [&](const SweptCell& c, int n) {
    t.begin(c, sums[n].of[row], olds[n].of[row]);
  });
  __syncthreads();
#pragma unroll
  for (int side = 0; side < 6; ++side) {
    if (!(tile.outside >> side & 1)) continue;
    const int last = side & 1, across = side < 2 ? all.ny : all.nx, face = across * (side < 4 ? all.nz : all.ny);
    for (int n = mine; n < face; n += threads) {
      const int one = n % across, two = n / across, x = side < 2 ? last * (all.nx - 1) : one;
      const int y = side < 2 ? one : side < 4 ? last * (all.ny - 1) : two, z = side < 4 ? two : last * (all.nz - 1);
      real& kept = sums[(z * all.ny + y) * all.nx + x].of[row];
      real sum = kept;
      bring_from_memory(r, t, TileColumn<D>(all, y, z).cell(x), row, side, sum);
      if (has_row<T>()) kept = sum;
    }
    __syncthreads();
  }
  constexpr int ahead_by = 3, low = D::way < 0 ? 1 : 0;
  const bool idle = mine >= all.columns;
  const TileColumn<D> column(all, idle ? 0 : mine);
  const int start = low ? all.nx - 1 : 0, steps[3] = {1, all.nx, all.nx * all.ny};
  const unsigned across = column.sides & ~column.outside;  // neighbours in the tile, except along x
  for (int n = 0; n < ahead_by; ++n)
    if (!idle && column.has(start + n * D::way)) t.fetch(column.cell(start + n * D::way), row);
  Two<typename T::Ahead> loaded;
  auto way = t.way(column.cell(column.x(-1) + D::way), row, ahead_by - 1);
  const auto one = [&](int step, auto parity) {
    constexpr int P = decltype(parity)::of;
    const int x = idle ? NO_COLUMN : column.x(step), n = mine * all.nx + x;
    const bool present = column.has(x), coming = column.has(x + D::way);
    const typename T::Ahead& now = loaded.template get<P>();
    if (__any_sync(0xffffffffu, unsigned(present) | unsigned(coming) | arrived(now))) {
      const unsigned along = 1u << low, bound = across | (x == start ? 0 : along);
      if (coming) way.load(across | (x + D::way == start ? 0 : along), loaded.template get<1 - P>());
      if (column.has(x + ahead_by * D::way)) way.fetch();
      const Unknowns<T>* before[3];
      for (int a = 0; a < 3; ++a) before[a] = present && bound >> (2 * a + low) & 1 ? sums + n - D::way * steps[a] : sums;
      const Unknowns<T> &sum = sums[present ? n : 0], &old = olds[present ? n : 0];
      const real value = row_of_cell<D>(t, now, sum.of[row], old.of[row], bound, before);
      if (present) sums[n].of[row] = value;
    }
    way.go_on();
    __syncthreads();
  };
  for (int step = -1; step < all.steps; step += 2) {
    one(step, Parity<1>());
    if (step + 1 < all.steps) one(step + 1, Parity<0>());
  }
  share_cells(all, threads, mine, [&](const SweptCell& c, int n) {
    t.store(c, sums[n].of[row]);
  });
}
#endif
