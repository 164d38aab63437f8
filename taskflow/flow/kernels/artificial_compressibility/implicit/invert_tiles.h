// The factorisation on a GPU: a thread block has a tile, four threads have a column of its cells along x, and keep in shared memory
// the inverse of the last cell that they did: cells in the same step need no others.
constexpr int COLUMNS = BX / ROWS;

struct Kept {
  real row[4][4];
  real apart[16 / sizeof(real)];  // cells side by side lie in other banks
};
struct Ahead {
  Columns d, back[3];
};

// What the neighbours in other tiles take, side by side: a cell may have several
template <class All>
FN void take_outside(const TileCells<Up>& cells, int mine, int first, const All& all) {
  each_side([&](auto side) {
    constexpr int SIDE = side.number, last = SIDE & 1;
    if (!(cells.tile.outside >> SIDE & 1)) return;
    const int across = SIDE < 2 ? cells.ny : cells.nx, face = across * (SIDE < 4 ? cells.nz : cells.ny);
    for (int n = mine; n < face; n += COLUMNS) {
      const int one = n % across, two = n / across, x = SIDE < 2 ? last * (cells.nx - 1) : one;
      const int y = SIDE < 2 ? one : SIDE < 4 ? last * (cells.ny - 1) : two, z = SIDE < 4 ? two : last * (cells.nz - 1);
      const SweptCell c = TileColumn<Up>(cells, y, z).cell(x);
      Columns d = all.begun(c, first);
      all.template take<SIDE>(d, c, first);
      all.store(c, first, d);
    }
    __syncthreads();
  });
}

// A tile whose threads have several columns, or that is not there as a whole
template <class All>
FN void sweep_warps(const TileCells<Up>& cells, int mine, int first, const All& all) {
  for (int step = 0; step < cells.steps; ++step) {
    for (int from = 0; from < cells.columns; from += COLUMNS) {
      const bool idle = from + mine >= cells.columns;
      const TileColumn<Up> column(cells, idle ? 0 : from + mine);
      const int x = idle ? -1 : column.x(step);
      const bool present = x >= 0 && x < cells.nx;
      if (__any_sync(0xffffffffu, present)) all.whole(column.cell(present ? x : 0), first, present);
    }
    __syncthreads();
  }
}

template <class All>
FN void invert_tile(const Range& r, const Sweep& s, const All& all) {
  __shared__ Kept kept[2][COLUMNS];
  TileOf tile;
  if (!tile_of_block(r, s, 1, tile)) return;
  const TileCells<Up> cells{r, tile};
  const int mine = int(threadIdx.x) / ROWS, first = int(threadIdx.x) % ROWS;
  bool whole = cells.columns <= COLUMNS && 0 < cells.count;
  for (int a = 0; a < 3; ++a) whole = whole && tile.lo[a] == tile.low[a] && tile.hi[a] == tile.high[a];
  const bool idle = mine >= cells.columns;
  if (!whole) return sweep_warps(cells, mine, first, all);

  take_outside(cells, mine, first, all);
  const TileColumn<Up> column(cells, idle ? 0 : mine);
  const int before[3] = {mine, mine - 1, mine - cells.ny};
  const auto inside = [](const SweptCell& c, int side) { return (c.sides & ~c.outside) >> side & 1; };
  const auto load = [&](const SweptCell& c) {
    Ahead ahead;
    ahead.d = all.begun(c, first);
    each_side([&](auto side) {
      if constexpr (side.number % 2 == 0)
        if (inside(c, side.number)) ahead.back[side.number / 2] = all.template back<side.number>(c, first);
    });
    return ahead;
  };
  SweptCell next = column.cell(0);
  Ahead ahead = load(next);
  for (int step = 0; step < cells.steps; ++step) {
    const int x = idle ? -1 : column.x(step);
    const bool present = x >= 0 && x < cells.nx;
    if (__any_sync(0xffffffffu, present)) {  // whole warps go on, as their threads exchange numbers
      const SweptCell c = next;
      const Ahead now = ahead;
      if (present && x + 1 < cells.nx) next = column.cell(x + 1), ahead = load(next);
      Columns d = now.d;
      each_side([&](auto side) {
        if constexpr (side.number % 2 == 0) {
          if (!present || !inside(c, side.number)) return;
          const Kept& there = kept[(step + 1) & 1][before[side.number / 2]];
          all.template take<side.number>(d, c, now.back[side.number / 2], [&](int row, int n) { return there.row[row][n]; });
        }
      });
      const Columns inverted = inverse(d, first);
      if (present) {
        for (int row = 0; row < 4; ++row) kept[step & 1][mine].row[row][first] = real(Real_pivot(inverted.of[row][0]));
        all.store(c, first, inverted);
      }
    }
    __syncthreads();
  }
}
