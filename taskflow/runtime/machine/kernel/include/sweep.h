/// # Sweeps in order: a parameter of type `Sweep`
/// Sweep: the tiles of a sweep
/// sweep_cells(range, sweep, way, f): calls f for every cell after its earlier neighbours, with way UP or DOWN
/// sweep_ahead(range, sweep, way, f): as above, tile by tile, on a CPU
/// sweep_rows(range, sweep, way, rows): as above, for cells of several unknowns, of a type described in `sweep_rows_host.h`
/// sweep_whole<D, N>(range, sweep, width, begin): as above, through a whole chart, on a GPU
/// UP, DOWN: the two ways of a sweep
/// Up, Down: their types
/// earlier(c, side): true if the neighbour beyond a side, 0 to 5, is earlier
/// along(side, axis): -1, 0 or 1, the direction of a side along an axis
/// beyond(range, side): the offset of the neighbour beyond a side
/// TileOf, TileCells<D>, TileColumn<D>: a tile, its cells, and one of its columns
/// tile_function(row, cell): the work on a tile, by rows and by cells
/// tile_of_block(range, sweep, way, tile): the tile of a thread block
/// cell_of_thread(range, sweep, mine, many, c): the cell of a thread, for tiles of single cells
/// single_cell(range, sweep, i, j, k): a cell of such a sweep
/// spread(sweep): the stride of its cells along x
/// Before: the bundles that a bundle of a whole chart waits for
/// meet(threads): a barrier of the threads that compute, on a GPU
// Sweeps: points that depend on each other, as in a triangular solve. See taskflow/runtime/tasks/sweep.py for the tiles, their
// colours, and the order.
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
// Results are bitwise identical for every schedule in which a point follows the earlier ones. A CPU does the tiles cell by cell,
// distributed over its threads. On a GPU a thread block does a tile, the cells of one i + j + k at a time. If tiles are SINGLE
// cells, a thread has one. A WHOLE chart, which is one tile, is shared by many thread blocks (sweep_whole.h).
//
// Inputs of a cell that the sweep does not write may be loaded ahead, while earlier cells are done:
//
//   sweep_cells(range, sweep, UP, CELL(c) { return held(b[c]); }, [=](const SweptCell& c, real value) { ... });

// The cells of a launch are in tiles, counted from `first`: all of them, or those of one colour (0 or 1, else -1).
struct Sweep {
  int first[3], last[3], tile[3], colour;
  unsigned* passed;            // of a WHOLE sweep on a GPU: words by which thread blocks pass it on, zero before and after;
  volatile unsigned* alarm;    // reports to the host that one of them has timed out,
  unsigned long long patience;  // after this time, ns
};

struct Up {
  static constexpr int way = 1;
};
struct Down {
  static constexpr int way = -1;
};
#define UP Up()
#define DOWN Down()

// Sides of a cell are numbered x_min, x_max, y_min, y_max, z_min, z_max. `along(side, axis)`: the distance of that neighbour along
// an axis, in cells; `beyond(range, side)`: its offset in fields with one value per cell.
FN constexpr int along(int side, int axis) { return side >> 1 != axis ? 0 : side & 1 ? 1 : -1; }
FN Index beyond(const Range& r, int side) { return (side & 1 ? 1 : -1) * (side >> 1 == 0 ? 1 : side >> 1 == 1 ? r.y : r.z); }

struct SweptCell : Cell {
  unsigned sides;    // bit n: the neighbour beyond side n is earlier
  unsigned outside;  // bit n: that neighbour is earlier and in another tile
};
FN bool earlier(const SweptCell& c, int side) { return c.sides >> side & 1; }

// A tile: its cells in this launch, and for each side whether the neighbours beyond it are earlier: in a tile of the other colour,
// in the launch before.
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

// The two bits of an axis: whether the neighbours before and after a cell are earlier; whether they are in other tiles
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
// The numbers of tiles along an axis with cells of a range: [first, last)
FN int first_tile(const Range& r, const Sweep& s, int axis) { return (r.lo[axis] - s.first[axis]) / s.tile[axis]; }
FN int last_tile(const Range& r, const Sweep& s, int axis) { return (r.hi[axis] - s.first[axis] + s.tile[axis] - 1) / s.tile[axis]; }

// The cells of a tile: columns along x, of which one cell each is done per step: the cells of one i + j + k
template <class D>
struct TileCells {
  const Range& range;
  const TileOf& tile;
  const int nx = tile.hi[0] - tile.lo[0], ny = tile.hi[1] - tile.lo[1], nz = tile.hi[2] - tile.lo[2];
  const int columns = ny * nz, count = nx * columns, steps = nx + ny + nz - 2;
};

// One of its columns. Common values of its cells are computed once, as every instruction delays a step.
template <class D>
struct TileColumn {
  const TileCells<D>& all;
  const int y, z;
  const int j = all.tile.lo[1] + y, k = all.tile.lo[2] + z;
  const Index offset = j * all.range.y + k * all.range.z;
  const unsigned sides = earlier_along<D>(all.tile, 1, j) | earlier_along<D>(all.tile, 2, k);
  const unsigned outside = outside_along(all.tile, 1, j) | outside_along(all.tile, 2, k);
  INLINE TileColumn(const TileCells<D>& cells, int y, int z) : all(cells), y(y), z(z) {}
  INLINE TileColumn(const TileCells<D>& cells, int number) : TileColumn(cells, number % cells.ny, number / cells.ny) {}
  INLINE int x(int step) const { return (D::way > 0 ? step : all.steps - 1 - step) - y - z; }
  INLINE bool has(int x) const { return x >= 0 && x < all.nx; }
  INLINE SweptCell cell(int x) const {
    const int i = all.tile.lo[0] + x;
    return {{i, j, k, i + offset}, sides | earlier_along<D>(all.tile, 0, i), outside | outside_along(all.tile, 0, i)};
  }
};

struct Alone {};  // nothing is loaded ahead

// Whether a step is even, known at compile time; and the x of a thread without a column: near none of its cells
template <int N>
struct Parity {
  static constexpr int of = N;
};
constexpr int NO_COLUMN = -99;

#ifndef GPU
// The work on a tile. before = row(c, next) precedes a row, with its first cell and the first of the next row. Then before =
// cell(c, next, before) for each cell and its neighbour in the next row: the result of a cell stays in registers.
template <class R, class C>
struct TileFunction {
  R row;
  C cell;
};
template <class R, class C>
FN TileFunction<R, C> tile_function(R row, C cell) { return {row, cell}; }
// The same without results of cells: cell(c, next)
template <class C>
FN auto tile_function(C cell) {
  const auto row = [](const SweptCell&, const SweptCell&) { return Alone(); };
  return tile_function(row, [=](const SweptCell& c, const SweptCell& next, Alone) __attribute__((always_inline)) {
    cell(c, next);
    return Alone();
  });
}

#ifdef SHUFFLED  // debug mode: other permitted orders
FN Index shuffled(Index n, Index count) { return count - 1 - n; }
FN void delay(unsigned number) {
  for (volatile unsigned n = (number * 2654435761u) >> 20; n; n = n - 1) {}
}
#else
FN Index shuffled(Index n, Index) { return n; }
FN void delay(unsigned) {}
#endif
#endif

#ifdef SINGLE
#include "sweep_single.h"
#elif defined(WHOLE) && defined(GPU)
#include "sweep_whole.h"

template <class D, class L, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D, L load, F f) {
  sweep_whole<D, 1>(r, s, 1, [&](const TileColumn<D>& column, int) {
    return [&, ahead = decltype(load(SweptCell())){}](int, int x, auto) mutable {
      const auto now = ahead;
      if (column.has(x + D::way)) ahead = load(column.cell(x + D::way));
      if (column.has(x)) f(column.cell(x), now);
    };
  });
}
#elif defined(GPU)
// A thread block has a tile of the range, or none; with two colours, every other tile of a row along x.
FN bool tile_of_block(const Range& r, const Sweep& s, int way, TileOf& t) {
  int number[3] = {int(BLOCK(r).x), int(BLOCK(r).y) + first_tile(r, s, 1), int(BLOCK(r).z) + first_tile(r, s, 2)};
  number[0] += first_tile(r, s, 0);
  if (s.colour >= 0) number[0] += int(BLOCK(r).x) + ((int(BLOCK(r).x) + number[0] + number[1] + number[2] + s.colour) & 1);
  if (number[0] >= last_tile(r, s, 0)) return false;
  t = tile_at(r, s, way, number);
  return true;
}

// A thread has several columns
template <class D, class F>
FN void sweep_many(const TileCells<D>& all, int threads, int mine, F f) {
  for (int step = 0; step < all.steps; ++step) {
    for (int number = mine; number < all.columns; number += threads) {
      const TileColumn<D> column(all, number);
      const int x = column.x(step);
      if (x >= 0 && x < all.nx) f(column.cell(x));
    }
    __syncthreads();
  }
}

// A thread has one column, or none, and loads the inputs of its next cell before it does one: f(cell, loaded)
template <class D, class L, class F>
FN void sweep_one(const TileCells<D>& all, int mine, L load, F f) {
  const bool idle = mine >= all.columns || all.nx == 0;
  const TileColumn<D> column(all, idle ? 0 : mine);
  SweptCell next = column.cell(D::way > 0 || idle ? 0 : all.nx - 1);
  auto ahead = idle ? decltype(load(next)){} : load(next);
  for (int step = 0; step < all.steps; ++step) {
    const int x = column.x(step);
    if (!idle && column.has(x)) {
      const SweptCell c = next;
      const auto now = ahead;
      if (column.has(x + D::way)) next = column.cell(x + D::way), ahead = load(next);
      f(c, now);
    }
    __syncthreads();
  }
}

// If a thread has several columns, nothing is loaded ahead.
template <class D, class L, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D, L load, F f) {
  TileOf tile;
  if (!tile_of_block(r, s, D::way, tile)) return;
  const TileCells<D> all{r, tile};
  const int threads = int(blockDim.x), mine = int(threadIdx.x);
  if (all.columns > threads)
    sweep_many(all, threads, mine, [=](const SweptCell& c) { f(c, load(c)); });
  else
    sweep_one(all, mine, load, f);
}
#else
#ifdef SHUFFLED
// Cells with one i + j + k are done in sequence, as on a GPU, the last first.
template <class D, class F>
FN void sweep_tile(const TileCells<D>& all, F f) {
  const auto one = f(TileColumn<D>(all, 0).cell(0));
  for (int step = 0; step < all.steps; ++step) {
    for (int number = all.columns - 1; number >= 0; --number) {
      const TileColumn<D> column(all, number);
      const int x = column.x(step);
      if (x < 0 || x >= all.nx) continue;
      const SweptCell c = column.cell(x);
      one.cell(c, c, one.row(c, c));
    }
  }
}
#else
template <class D, class F>
FN void sweep_tile(const TileCells<D>& all, F f) {
  const auto at = [](int n, int count) { return D::way > 0 ? n : count - 1 - n; };
  const auto one = f(TileColumn<D>(all, 0).cell(0));
  for (int z = 0; z < all.nz; ++z) {
    for (int y = 0; y < all.ny; ++y) {
      const bool up = y + 1 == all.ny, end = up && z + 1 == all.nz;
      const TileColumn<D> column(all, at(y, all.ny), at(z, all.nz)), next(all, at(up ? end ? y : 0 : y + 1, all.ny), at(up && !end ? z + 1 : z, all.nz));
      auto before = one.row(column.cell(at(0, all.nx)), next.cell(0));
      for (int x = 0; x < all.nx; ++x) before = one.cell(column.cell(at(x, all.nx)), next.cell(at(x, all.nx)), before);
    }
  }
}
#endif

// f(first) does a tile, from its first cell on, and may prefetch the next one. Threads share the rows of tiles
// along x.
template <class D, class F>
FN void sweep_ahead(const Range& r, const Sweep& s, D, F f) {
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
        const TileOf tile = tile_at(r, s, D::way, number);
        sweep_tile(TileCells<D>{r, tile}, f);
      }
    }
  });
}
#endif

#ifdef GPU
template <class D, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D way, F f) {
  sweep_cells(r, s, way, [](const SweptCell&) { return Alone(); }, [=](const SweptCell& c, Alone) { f(c); });
}
#else
template <class D, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D way, F f) {
  const auto one = [=](const SweptCell& c, const SweptCell&) __attribute__((always_inline)) { f(c); };
  sweep_ahead(r, s, way, [=](const SweptCell&) __attribute__((always_inline)) { return tile_function(one); });
}
template <class D, class L, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D way, L load, F f) {
  sweep_cells(r, s, way, [=](const SweptCell& c) { f(c, load(c)); });
}
#endif
