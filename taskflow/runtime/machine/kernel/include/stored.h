/// # Fields in their own precision
/// InOf<Number>, OutOf<Number>, InOutOf<Number>: a field declared `Read.any`, ..., with Number `Real_q`
/// InValuesOf<N, Number>, OutValuesOf<N, Number>, InOutValuesOf<N, Number>: the same with N values per cell
/// InPrivate<N, Number>, OutPrivate<N, Number>, InOutPrivate<N, Number>: a private field, the N values of a cell contiguous
/// InPrivateRows<N, Number>, OutPrivateRows<N, Number>, InOutPrivateRows<N, Number>: a private field in rows
/// private_cells(range, interior, field, f): f(cell, field) for cells that write fours of a private field
/// held(number): a stored number as `real`
/// fetch(at, bytes): prefetches memory on a GPU
// Fields in their own precision, Real_q of a field q: `Read.any`, `Write.any * 4`, `ReadWrite.private * 16`. In any precision a
// text reads numbers as `real`, and its results are rounded.

// A mutable number in memory
template <class Number>
struct Held {
  Number* at;
  INLINE operator real() const { return real(*at); }
  INLINE const Held& operator=(real value) const { return *at = Number(value), *this; }
  INLINE const Held& operator=(const Held& other) const { return *this = real(other); }
  INLINE const Held& operator+=(real value) const { return *this = real(*at) + value; }
  INLINE const Held& operator-=(real value) const { return *this = real(*at) - value; }
  INLINE const Held& operator*=(real value) const { return *this = real(*at) * value; }
  INLINE const Held& operator/=(real value) const { return *this = real(*at) / value; }
};
template <class Number>
FN real held(const Number& number) {
  return real(number);
}
template <class Number>
FN Held<Number> held(Number& number) {
  return {&number};
}

// Four values as stored
template <class Number>
struct alignas(16) FourOf {
  Number of[4];
  INLINE real operator[](int n) const { return real(of[n]); }
};

// One value per cell: `q[c]`
template <class Number>
struct StoredOf {
  Number* __restrict__ field;
  INLINE auto operator[](Index offset) const { return held(field[offset]); }
};
// N values per cell: `q(c, n)`, `q(c, n, 0, 0, 1)` in the cell above
template <int N, class Number>
struct StoredValuesOf : ValuesOf<N, Number> {
  INLINE auto operator()(const Cell& c, int n, int x = 0, int y = 0, int z = 0) const {
    return held(ValuesOf<N, Number>::operator()(c, n, x, y, z));
  }
};
// Prefetches a piece of memory, at most one line of a GPU's cache.
FN void fetch(const void* at, [[maybe_unused]] int bytes) {
#ifdef GPU
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#else
  for (int n = 0; n < bytes; n += 64) __builtin_prefetch(static_cast<const char*>(at) + n);
#endif
}
#ifdef GPU
// The positions of cells in memory
struct Numbered {
  Index y, z;
  INLINE Index operator()(const Cell& c) const { return c.i + c.j * y + c.k * z; }
};
#else
// The positions of cells in memory: row by row, in a tile from its first cell on
struct InTile {
  int i, j, k, nx, ny;
  INLINE Index operator()(const Cell& c) const { return (Index(c.k - k) * ny + (c.j - j)) * nx + (c.i - i); }
};
// The positions tile by tile, in the order of a sweep. A tile has 2^bits cells, or fewer at the end.
struct Numbered {
  int lo[3], size[3], bits[3];
  INLINE int begin(int at, int axis) const { return (at - lo[axis]) >> bits[axis] << bits[axis]; }
  INLINE int along(int begin, int axis) const { return size[axis] - begin < 1 << bits[axis] ? size[axis] - begin : 1 << bits[axis]; }
  // The tile of a cell, and its first number
  INLINE InTile tile(const Cell& c, Index& first) const {
    const int x = begin(c.i, 0), y = begin(c.j, 1), z = begin(c.k, 2), nx = along(x, 0), ny = along(y, 1), nz = along(z, 2);
    first = (Index(z) * size[1] + Index(y) * nz) * size[0] + Index(x) * ny * nz;
    return {lo[0] + x, lo[1] + y, lo[2] + z, nx, ny};
  }
  INLINE Index operator()(const Cell& c) const {
    Index first;
    const InTile in = tile(c, first);
    return first + in(c);
  }
};
#endif
// A private field: the N values of a cell are contiguous. `q(c, n)` is value n of a cell, `q(c)` the only one. `q.four(c, n)` reads
// four values, if N and n are multiples of 4, and `q.store_four(c, n, four)` writes them: on a GPU in one or two loads or stores.
// `q.place(c, n)` is their address, and `fetch` of it prefetches that memory line on a GPU. On a CPU `q.tile(c)` is the field in the
// tile of a cell, with cheaper addresses, and `q.own(c)` in the cell.
template <int N, class Number, class Where>
struct PrivateAt {
  Number* __restrict__ field;
  Where numbered;
  INLINE auto operator()(const Cell& c, int n = 0) const { return held(*place(c, n)); }
#ifndef GPU
  INLINE PrivateAt<N, Number, InTile> tile(const Cell& c) const {
    Index first;
    const InTile in = numbered.tile(c, first);
    return {field + N * first, in};
  }
  INLINE PrivateAt<N, Number, InTile> own(const Cell& c) const { return own(c, numbered(c)); }
  INLINE PrivateAt<N, Number, InTile> own(const Cell& c, Index number) const { return {field + N * number, {c.i, c.j, c.k, 1, 1}}; }
#endif
  INLINE auto four(const Cell& c, int n) const { return four(place(c, n)); }
  INLINE static auto four(const Number* from) {
    static_assert(FOURS, "fours are of floats or doubles, of which there are a multiple of 4");
#ifdef GPU
    return *reinterpret_cast<const Four*>(from);
#else
    return Four{{from[0], from[1], from[2], from[3]}};
#endif
  }
  INLINE void store_four(const Cell& c, int n, const real (&values)[4]) const {
    static_assert(FOURS, "fours are of floats or doubles, of which there are a multiple of 4");
    const Four four = {{Plain(values[0]), Plain(values[1]), Plain(values[2]), Plain(values[3])}};
#ifdef GPU
    *reinterpret_cast<Four*>(place(c, n)) = four;
#else
    for (int m = 0; m < 4; ++m) place(c, n)[m] = four.of[m];
#endif
  }

  INLINE Number* place(const Cell& c, int n) const { return field + N * numbered(c) + n; }
  static constexpr int VALUES = N;

private:
  using Plain = decltype(Number() + Number());
  using Four = FourOf<Plain>;
  static constexpr bool FOURS = N % 4 == 0 && sizeof(Number) >= 4;
};
template <int N, class Number>
using PrivateOf = PrivateAt<N, Number, Numbered>;

// The same in rows: `q(c, n)` follows the value of the previous cell, so that many cells are read or written together.
template <int N, class Number>
struct PrivateRowsOf {
  Number* __restrict__ field;
  Index y, z;
  INLINE auto operator()(const Cell& c, int n) const { return held(field[c.i + N * (c.j * y + c.k * z) + n * y]); }
  INLINE static real rounded(real value) { return real(Number(value)); }  // as stored
};

template <class Number>
using InOf = StoredOf<const Number>;
template <class Number>
using OutOf = StoredOf<Number>;
template <class Number>
using InOutOf = StoredOf<Number>;
template <int N, class Number>
using InValuesOf = StoredValuesOf<N, const Number>;
template <int N, class Number>
using OutValuesOf = StoredValuesOf<N, Number>;
template <int N, class Number>
using InOutValuesOf = StoredValuesOf<N, Number>;
template <int N, class Number>
using InPrivate = PrivateOf<N, const Number>;
template <int N, class Number>
using OutPrivate = PrivateOf<N, Number>;
template <int N, class Number>
using InOutPrivate = PrivateOf<N, Number>;
template <int N, class Number>
using InPrivateRows = PrivateRowsOf<N, const Number>;
template <int N, class Number>
using OutPrivateRows = PrivateRowsOf<N, Number>;
template <int N, class Number>
using InOutPrivateRows = PrivateRowsOf<N, Number>;

// f(cell, field) for cells that write fours of a private field. A CPU does LANES `amid` cells together, and then stores the results of
// each lane: compilers need minutes to vectorize stores with strides.
#ifdef GPU
template <int N, class Private, class F>
FN void private_cells(const Range& r, const InteriorAmid&, const Private& field, F f) {
  for_cells(r, CELL(c) { f(c, field); });
}
#else
template <int N>
struct InLanes {
  real (*of)[LANES];
  int first;
  INLINE void store_four(const Cell& c, int n, const real (&values)[4]) const {
    of[n][c.i - first] = values[0], of[n + 1][c.i - first] = values[1], of[n + 2][c.i - first] = values[2], of[n + 3][c.i - first] = values[3];
  }
};
template <class Private, class F>
static __attribute__((noinline)) void private_cell(const Cell& c, const Private& field, const F& f) {
  f(c, field);
}
template <int N, class Private, class F>
FN void private_lanes(int first, int j, int k, Index row, const Private& field, F f) {
  real lanes[N][LANES];
#pragma omp simd
  for (int l = 0; l < LANES; ++l) f(InnerOf<true>{{first + l, j, k, row + first + l}, 0, 0, 0}, InLanes<N>{lanes, first});
  for (int l = 0; l < LANES; ++l) {
    const Cell c{first + l, j, k, row + first + l};
    const auto own = field.own(c);
    for (int n = 0; n < N; n += 4) own.store_four(c, n, {lanes[n][l], lanes[n + 1][l], lanes[n + 2][l], lanes[n + 3][l]});
  }
}
template <int N, class Private, class F>
FN void private_cells(const Range& r, const InteriorAmid& in, const Private& field, F f) {
  const auto by_row = [=](int from, int to, int j, int k, Index row) __attribute__((always_inline)) {
    const bool inner = j >= in.low[0] && j <= in.high[0] && k >= in.low[1] && k <= in.high[1] && in.right + 1 - in.left >= LANES;
    const int left = inner ? in.left : to, right = inner ? in.right + 1 : to;
    for (int i = from; i < to; i = i + 1 == left ? right : i + 1)
      if (i < left || i >= right) private_cell(Cell{i, j, k, row + i}, field, f);
    // the end of a row is a full vector: some cells are done twice
    for (int i = left; i < right; i += LANES) private_lanes<N>(i + LANES < right ? i : right - LANES, j, k, row, field, f);
  };
  for_cells(r, RowFunction<decltype(by_row)>{by_row});
}
#endif
