// The factorisation on a GPU: a thread block has a tile, or a bundle of a whole chart; ROWS threads have a column of its cells along
// x, those without a column of blocks do the work of the last one and store nothing. Each of three works out what one of the neighbours before the next cell is bound by, and keeps it in shared memory, as it does
// with the inverse of the last cell: the cells of a step need no others, but at the edges of a bundle.
constexpr int COLUMNS = BX / ROWS;

// The column of its block that a thread has
FN int column_of_thread() {
  const int column = int(threadIdx.x) % ROWS;
  return UNKNOWNS < ROWS && column >= UNKNOWNS ? UNKNOWNS - 1 : column;
}
FN bool has_column() { return UNKNOWNS == ROWS || int(threadIdx.x) % ROWS < UNKNOWNS; }

struct Kept {
  real row[UNKNOWNS][UNKNOWNS];
  real apart[16 / sizeof(real)];  // what lies side by side is in other banks
};

// Of the low face across an axis that is only known when it runs: its area, what a difference across it conducts, what it sweeps
template <class N>
FN Vector low_face(const Uniform<N>& g, int axis, const Cell&) {
  return {axis == 0 ? g.n.areas[0] : 0, axis == 1 ? g.n.areas[1] : 0, axis == 2 ? g.n.areas[2] : 0};
}
FN Vector low_face(const Stored& g, int axis, const Cell& c) { return {g.of(c, 3 * axis), g.of(c, 3 * axis + 1), g.of(c, 3 * axis + 2)}; }
template <class N>
FN real low_conductance(const Uniform<N>& g, int axis, const Cell&, Vector) {
  return axis == 0 ? g.n.conductances[0] : axis == 1 ? g.n.conductances[1] : g.n.conductances[2];
}
FN real low_conductance(const Stored& g, int axis, const Cell& c, Vector s) {
  return square(s) * (2 * reciprocal(g.of(c, 9, -(axis == 0), -(axis == 1), -(axis == 2)) + g.volume(c)));
}
FN None low_sweep(None, int, const Cell&) { return {}; }
FN real low_sweep(InValues<3> swept, int axis, const Cell& c) { return swept(c, axis); }

// The row of a scalar in A(there, here), with the area of the face, towards here, and what a difference across it conducts
template <class... Rest>
FN void add_low_passage(Block&, int, None, const Rest&...) {}
template <class All, class Swept>
FN void add_low_passage(Block& m, int row, In T, const All& all, const Cell& c, Index beyond, Vector s, real conductance, Swept swept) {
  const Vector velocities{all.u[beyond] + all.u[c], all.v[beyond] + all.v[c], all.w[beyond] + all.w[c]};
  const real conducted = diffusivity_on(all.nu_t, numbers_of(all.numbers, row), c, beyond) * conductance;
  const Passage passing = passage(T[beyond], T[c], velocities, s, conducted, swept);
  m.of[at(row, row)] = -passing.spread, add_velocity(m, row, passing.by_velocity);
}

// A(there, here) of the neighbour beyond a low side
template <class All>
FN Block low_back(const All& all, int axis, const Cell& c) {
  const Index beyond = c - (axis == 0 ? all.steps.x : axis == 1 ? all.steps.y : all.steps.z);
  const Vector s = low_face(all.g, axis, c);
  const real share = coupling_share(all.aperture, axis, c);
  const real conductance = share * low_conductance(all.g, axis, c, s), friction = viscosity_on(all.nu_t, all.numbers, c, beyond) * conductance;
  const auto swept = low_sweep(all.swept, axis, c);
  Block m = coupled({all.u[beyond], all.v[beyond], all.w[beyond]}, {all.u[c], all.v[c], all.w[c]}, share * s, friction,
                    compressible(all.b, all.numbers, c, beyond), swept);
  add_low_passage(m, 4, all.heat, all, c, beyond, share * s, conductance, swept);
  add_low_passage(m, 5, all.scalar, all, c, beyond, share * s, conductance, swept);
  return m;
}

// What a thread block keeps: inverses of the last step and of this one, and what the next cells are bound by
struct Shelf {
  Kept (*inverses)[COLUMNS], (*backs)[3];
};

// What the threads of a column do in it
template <class All>
struct ColumnOf {
  const All& all;
  const Shelf& shelf;
  const TileColumn<Up>& column;
  const int mine, first;

  INLINE static bool inside(const SweptCell& c, int axis) { return (c.sides & ~c.outside) >> (2 * axis) & 1; }
  INLINE void work_out(const SweptCell& c) const {
    if (first > 2 || !inside(c, first)) return;
    const Block m = low_back(all, first, c);
    for (int n = 0; n < BLOCK; ++n) shelf.backs[mine][first].row[n / UNKNOWNS][n % UNKNOWNS] = m.of[n];
  }
  // A cell x, where the column has it, and what its next one needs; `begun` is of the first and becomes that of the second. Inverses
  // beyond an edge are in memory. Whole warps come, as their threads exchange numbers.
  INLINE void step(int step, int x, Columns& begun, bool edge_y, bool edge_z) const {
    const int before[3] = {mine, mine - 1, mine - column.all.ny};
    const bool edges[3] = {false, edge_y, edge_z}, present = column.has(x);
    const SweptCell c = column.cell(present ? x : 0);
    Columns d = begun, back[3];
    for (int n = 0; n < 3 * UNKNOWNS; ++n) back[n / UNKNOWNS].of[n % UNKNOWNS][0] = shelf.backs[mine][n / UNKNOWNS].row[n % UNKNOWNS][first];
    __syncwarp();
    if (column.has(x + 1)) {
      const SweptCell next = column.cell(x + 1);
      begun = all.begun(next, first), work_out(next);
    }
    each_side([&](auto side) {
      if constexpr (side.number % 2 == 0) {
        constexpr int axis = side.number / 2;
        if (!present || !inside(c, axis)) return;
        const Kept& neighbour = shelf.inverses[(step + 1) & 1][before[axis]];
        if (edges[axis])
          all.template take<side.number>(d, c, back[axis], all.template beyond<side.number>(c));
        else
          all.template take<side.number>(d, c, back[axis], [&](int row, int n) { return neighbour.row[row][n]; });
      }
    });
    const Columns inverted = inverse(d, first, all.numbers);
    if (!present || !has_column()) return;
    for (int row = 0; row < UNKNOWNS; ++row) shelf.inverses[step & 1][mine].row[row][first] = real(Real_pivot(inverted.of[row][0]));
    all.store(c, first, inverted);
  }
};

#ifdef SINGLE
template <class All>
FN void invert_tile(const Range& r, const Sweep& s, const All& all) {
  SweptCell c;
  const bool present = cell_of_thread<Up>(r, s, int(threadIdx.x) / ROWS, COLUMNS, c);
  if (!__any_sync(0xffffffffu, present)) return;
  if (!present) c = single_cell<Up>(r, s, r.lo[0], r.lo[1], r.lo[2]);
  const int first = column_of_thread();
  if (s.colour >= 0) return all.whole(c, first, present, has_column());
  const Columns inverted = inverse(all.begun(c, first), first, all.numbers);  // no registers for neighbours: none is earlier
  if (present && has_column()) all.store(c, first, inverted);
}
#elif defined(WHOLE)
template <class All>
FN void invert_tile(const Range& r, const Sweep& s, const All& all) {
  __shared__ Kept inverses[2][COLUMNS], backs[COLUMNS][3];
  const Shelf shelf = {inverses, backs};
  const int first = column_of_thread();
  sweep_whole<Up, 1>(r, s, ROWS, [&](const TileColumn<Up>& column, int mine) {
    return [&, mine, begun = Columns()](int step, int x, auto) mutable {
      if (!__any_sync(0xffffffffu, column.has(x) || column.has(x + 1))) return;
      const ColumnOf<All> own = {all, shelf, column, mine, first};
      own.step(step, x, begun, column.y == 0, column.z == 0);
    };
  });
}
#else
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
      if (has_column()) all.store(c, first, d);
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
      if (__any_sync(0xffffffffu, present)) all.whole(column.cell(present ? x : 0), first, present, has_column());
    }
    __syncthreads();
  }
}

template <class All>
FN void invert_tile(const Range& r, const Sweep& s, const All& all) {
  __shared__ Kept kept[2][COLUMNS], backs[COLUMNS][3];
  TileOf tile;
  if (!tile_of_block(r, s, 1, tile)) return;
  const TileCells<Up> cells{r, tile};
  const int mine = int(threadIdx.x) / ROWS, first = column_of_thread();
  bool whole = cells.columns <= COLUMNS && 0 < cells.count;
  for (int a = 0; a < 3; ++a) whole = whole && tile.lo[a] == tile.low[a] && tile.hi[a] == tile.high[a];
  const bool idle = mine >= cells.columns;
  if (!whole) return sweep_warps(cells, mine, first, all);

  take_outside(cells, mine, first, all);
  if (int(threadIdx.x) / 32 * 32 >= ROWS * cells.columns) return;  // a warp without a column
  const TileColumn<Up> column(cells, idle ? 0 : mine);
  const Shelf shelf = {kept, backs};
  const ColumnOf<All> own = {all, shelf, column, mine, first};
  Columns begun = all.begun(column.cell(0), first);
  if (!idle) own.work_out(column.cell(0));
  __syncwarp();
  for (int step = 0; step < cells.steps; ++step) {
    const int x = column.x(step);
    const bool present = !idle && column.has(x);
    if (__any_sync(0xffffffffu, present)) own.step(step, present ? x : -2, begun, false, false);
    __syncthreads();
  }
}
#endif
