// Sweeps: points that depend on each other, such as those of a triangular solve. See taskflow/runtime/tasks/sweep.py for
// the tiles, their colours, and who comes earlier.
//
//   TASK forward(Range range, In a, In b, InOut x, Sweep sweep) {
//     sweep_cells(range, sweep, UP, CELL(c) {
//       real value = b[c];
//       for (int side = 0; side < 6; ++side)
//         if (earlier(c, side)) value -= a[c] * x[c + beyond(range, side)];
//       x[c] = value;
//     });
//   }
//
// Every schedule in which a point comes after those that are earlier gives the same bits. A CPU goes through the tiles cell by
// cell; its threads share them. On a GPU each tile is a thread block's, which does the cells of one i + j + k at a time.
//
// What a cell reads that no other cell of the sweep writes may be loaded ahead, while the cells before it are done:
//
//   sweep_cells(range, sweep, UP, CELL(c) { return held(b[c]); }, [=](const SweptCell& c, real value) { ... });

// The cells of a launch lie in tiles of so many cells, counted from `first`: all of them, or those of a colour (0 or 1, else -1).
struct Sweep {
  int first[3], last[3], tile[3], colour;
};

struct Up {
  static constexpr int way = 1;
};
struct Down {
  static constexpr int way = -1;
};
#define UP Up()
#define DOWN Down()

// Sides of a cell are numbered x_min, x_max, y_min, y_max, z_min, z_max. `along(side, axis)`: how many cells along an axis
// the neighbour there is away, `beyond(range, side)` the distance in memory of fields with one value per cell.
FN constexpr int along(int side, int axis) { return side >> 1 != axis ? 0 : side & 1 ? 1 : -1; }
FN Index beyond(const Range& r, int side) { return (side & 1 ? 1 : -1) * (side >> 1 == 0 ? 1 : side >> 1 == 1 ? r.y : r.z); }

struct SweptCell : Cell {
  unsigned sides;    // bit n: the neighbour beyond side n is earlier
  unsigned outside;  // bit n: that one, which is earlier, lies in another tile
};
FN bool earlier(const SweptCell& c, int side) { return c.sides >> side & 1; }

// A tile: its cells in this launch, and for each side whether the neighbours beyond it are earlier: those of another tile, in
// the launch before, of the other colour.
struct TileOf {
  int lo[3], hi[3], low[3], high[3];  // cells of the launch, and ends of the tile
  unsigned outside;
};
FN TileOf tile_at(const Range& r, const Sweep& s, int way, const int (&number)[3]) {
  TileOf tile = {};
  const bool second = s.colour == (way > 0 ? 1 : 0);
  for (int a = 0; a < 3; ++a) {
    const int low = s.first[a] + number[a] * s.tile[a], end = low + s.tile[a], high = end < s.last[a] ? end : s.last[a];
    tile.low[a] = low, tile.high[a] = high;
    tile.lo[a] = low > r.lo[a] ? low : r.lo[a], tile.hi[a] = high < r.hi[a] ? high : r.hi[a];
    if (second && low > s.first[a]) tile.outside |= 1u << (2 * a);
    if (second && high < s.last[a]) tile.outside |= 2u << (2 * a);
  }
  return tile;
}

// The two bits of an axis: whether the neighbours before and behind a cell are earlier; whether those are in other tiles
template <class D>
FN unsigned earlier_along(const TileOf& t, int axis, int n) {
  const unsigned outside = t.outside >> (2 * axis);
  const unsigned before = n > t.low[axis] ? D::way > 0 : outside & 1, behind = n + 1 < t.high[axis] ? D::way < 0 : outside >> 1 & 1;
  return (before | behind << 1) << (2 * axis);
}
FN unsigned outside_along(const TileOf& t, int axis, int n) {
  const unsigned ends = (n == t.low[axis] ? 1 : 0) | (n + 1 == t.high[axis] ? 2 : 0);
  return t.outside & ends << (2 * axis);
}
template <class D>
FN SweptCell swept_cell(const Range& r, const TileOf& t, int i, int j, int k) {
  const unsigned sides = earlier_along<D>(t, 0, i) | earlier_along<D>(t, 1, j) | earlier_along<D>(t, 2, k);
  return {{i, j, k, i + j * r.y + k * r.z}, sides, outside_along(t, 0, i) | outside_along(t, 1, j) | outside_along(t, 2, k)};
}

// The numbers of tiles along an axis that have cells of a range: from the first one to before the last
FN int first_tile(const Range& r, const Sweep& s, int axis) { return (r.lo[axis] - s.first[axis]) / s.tile[axis]; }
FN int last_tile(const Range& r, const Sweep& s, int axis) { return (r.hi[axis] - s.first[axis] + s.tile[axis] - 1) / s.tile[axis]; }

struct Alone {};  // nothing is loaded ahead

#ifdef GPU
// A thread block has a tile of the range, or none; of those in a row along x with two colours it has every other one.
FN bool tile_of_block(const Range& r, const Sweep& s, int way, TileOf& t) {
  int number[3] = {int(BLOCK(r).x), int(BLOCK(r).y) + first_tile(r, s, 1), int(BLOCK(r).z) + first_tile(r, s, 2)};
  number[0] += first_tile(r, s, 0);
  if (s.colour >= 0) number[0] += int(BLOCK(r).x) + ((int(BLOCK(r).x) + number[0] + number[1] + number[2] + s.colour) & 1);
  if (number[0] >= last_tile(r, s, 0)) return false;
  t = tile_at(r, s, way, number);
  return true;
}

// The columns of cells along x in a tile. One cell of each is done at a time: in a step those of one i + j + k.
template <class D>
struct Columns {
  const Range& range;
  const TileOf& tile;
  const int nx = tile.hi[0] - tile.lo[0], ny = tile.hi[1] - tile.lo[1], nz = tile.hi[2] - tile.lo[2];
  const int count = ny * nz, steps = nx + ny + nz - 2;
  INLINE int x(int step, int column) const {
    const int level = D::way > 0 ? step : steps - 1 - step;
    return level - column % ny - column / ny;
  }
  INLINE SweptCell cell(int column, int x) const {
    return swept_cell<D>(range, tile, tile.lo[0] + x, tile.lo[1] + column % ny, tile.lo[2] + column / ny);
  }
};

// A thread has several columns
template <class D, class F>
FN void sweep_many(const Columns<D>& t, int threads, int mine, F f) {
  for (int step = 0; step < t.steps; ++step) {
    for (int column = mine; column < t.count; column += threads) {
      const int x = t.x(step, column);
      if (x >= 0 && x < t.nx) f(t.cell(column, x));
    }
    __syncthreads();
  }
}

// A thread loads what the next cell of its column needs before it does one. Where it has several columns nothing is loaded ahead.
template <class D, class L, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D, L load, F f) {
  TileOf tile;
  if (!tile_of_block(r, s, D::way, tile)) return;
  const Columns<D> t{r, tile};
  const int mine = int(threadIdx.x);
  if (t.count > int(blockDim.x)) return sweep_many(t, int(blockDim.x), mine, [=](const SweptCell& c) { f(c, load(c)); });
  const bool idle = mine >= t.count || t.nx == 0;
  SweptCell next = t.cell(idle ? 0 : mine, D::way > 0 || idle ? 0 : t.nx - 1);
  auto ahead = idle ? decltype(load(next)){} : load(next);
  for (int step = 0; step < t.steps; ++step) {
    const int x = idle ? -1 : t.x(step, mine);
    if (x >= 0 && x < t.nx) {
      const SweptCell c = next;
      const auto now = ahead;
      if (x + D::way >= 0 && x + D::way < t.nx) next = t.cell(mine, x + D::way), ahead = load(next);
      f(c, now);
    }
    __syncthreads();
  }
}
template <class D, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D way, F f) {
  sweep_cells(r, s, way, [](const SweptCell&) { return Alone(); }, [=](const SweptCell& c, Alone) { f(c); });
}
#else
#ifdef SHUFFLED
// Debug mode: other orders that are allowed. Cells with one i + j + k come after each other, as on a GPU, the last first.
template <class D, class F>
FN void sweep_tile(const Range& r, const TileOf& t, F f) {
  const int ni = t.hi[0] - t.lo[0], nj = t.hi[1] - t.lo[1], nk = t.hi[2] - t.lo[2];
  for (int level = 0; level < ni + nj + nk - 2; ++level) {
    for (int column = nj * nk - 1; column >= 0; --column) {
      const int y = column % nj, z = column / nj, x = level - y - z;
      if (x < 0 || x >= ni) continue;
      const int i = D::way > 0 ? t.lo[0] + x : t.hi[0] - 1 - x, j = D::way > 0 ? t.lo[1] + y : t.hi[1] - 1 - y;
      const int k = D::way > 0 ? t.lo[2] + z : t.hi[2] - 1 - z;
      f(swept_cell<D>(r, t, i, j, k));
    }
  }
}
FN Index shuffled(Index n, Index count) { return count - 1 - n; }
FN void delay(unsigned number) {
  for (volatile unsigned n = (number * 2654435761u) >> 20; n; n = n - 1) {}
}
#else
FN Index shuffled(Index n, Index) { return n; }
FN void delay(unsigned) {}
template <class D, class F>
FN void sweep_tile(const Range& r, const TileOf& t, F f) {
  const int ni = t.hi[0] - t.lo[0], nj = t.hi[1] - t.lo[1], nk = t.hi[2] - t.lo[2];
  for (int z = 0; z < nk; ++z) {
    const int k = D::way > 0 ? t.lo[2] + z : t.hi[2] - 1 - z;
    for (int y = 0; y < nj; ++y) {
      const int j = D::way > 0 ? t.lo[1] + y : t.hi[1] - 1 - y;
      for (int x = 0; x < ni; ++x) f(swept_cell<D>(r, t, D::way > 0 ? t.lo[0] + x : t.hi[0] - 1 - x, j, k));
    }
  }
}
#endif

// Threads share the rows of tiles along x.
template <class D, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D, F f) {
  if (!size(r, 0) || !size(r, 1) || !size(r, 2)) return;
  const int from = first_tile(r, s, 0), to = last_tile(r, s, 0), bottom = first_tile(r, s, 2), low = first_tile(r, s, 1);
  const Index rows = last_tile(r, s, 1) - low, count = rows * (last_tile(r, s, 2) - bottom);
  share(r, count, [=](Index first, Index last, bool) {
    for (Index n = first; n < last; ++n) {
      const Index at = shuffled(D::way > 0 ? n : first + last - 1 - n, count);
      const int j = low + int(at % rows), k = bottom + int(at / rows);
      const int skip = s.colour < 0 ? 1 : 2, begin = s.colour < 0 ? from : from + ((from + j + k + s.colour) & 1);
      const int tiles = begin < to ? (to - begin + skip - 1) / skip : 0;
      for (int m = 0; m < tiles; ++m) {
        const int i = begin + skip * int(shuffled(m, tiles)), number[3] = {i, j, k};
        delay(i + 7 * j + 31 * k);
        sweep_tile<D>(r, tile_at(r, s, D::way, number), f);
      }
    }
  });
}
template <class D, class L, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D way, L load, F f) {
  sweep_cells(r, s, way, [=](const SweptCell& c) { f(c, load(c)); });
}
#endif
