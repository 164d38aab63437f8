/// # Fields in their own precision
/// InOf<Number>, OutOf<Number>, InOutOf<Number>: a field declared `Read.any`, ..., with Number `Real_q`
/// InValuesOf<N, Number>, OutValuesOf<N, Number>, InOutValuesOf<N, Number>: the same with N values per cell
/// InPrivate<N, Number>, OutPrivate<N, Number>, InOutPrivate<N, Number>: a private field, the N values of a cell contiguous
/// InPrivateRows<N, Number>, OutPrivateRows<N, Number>, InOutPrivateRows<N, Number>: a private field in rows
/// private_cells<N, M>(range, interior, field, f): f(cell, field) for cells that store the N values of a private field in runs of M
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

// M values as stored
template <int M, class Number>
struct alignas(M % 4 == 0 ? 16 : M % 2 == 0 ? 2 * sizeof(Number) : sizeof(Number)) SeveralOf {
  Number of[M];
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
// A private field: the N values of a cell are contiguous. `q(c, n)` is value n of a cell, `q(c)` the only one. `q.several<M>(c, n)`
// reads M values, if N and n are multiples of M, and `q.store(c, n, values)` writes them: on a GPU in few loads or stores. `q.four(c, n)` and
// `q.store_four(c, n, values)` are of four.
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
  template <int M>
  INLINE auto several(const Cell& c, int n) const { return several<M>(place(c, n)); }
  template <int M>
  INLINE static auto several(const Number* from) {
    static_assert(WHOLE_RUNS<M>, "runs are of floats or doubles, of which there are a multiple");
#ifdef GPU
    return *reinterpret_cast<const SeveralOf<M, Plain>*>(from);
#else
    SeveralOf<M, Plain> several;
    memcpy(several.of, from, sizeof several.of);
    return several;
#endif
  }
  template <int M>
  INLINE void store(const Cell& c, int n, const real (&values)[M]) const {
    static_assert(WHOLE_RUNS<M>, "runs are of floats or doubles, of which there are a multiple");
    SeveralOf<M, Plain> several;
    for (int m = 0; m < M; ++m) several.of[m] = Plain(values[m]);
#ifdef GPU
    *reinterpret_cast<SeveralOf<M, Plain>*>(place(c, n)) = several;
#else
    for (int m = 0; m < M; ++m) place(c, n)[m] = several.of[m];
#endif
  }

  INLINE auto four(const Cell& c, int n) const { return several<4>(c, n); }
  INLINE void store_four(const Cell& c, int n, const real (&values)[4]) const { store(c, n, values); }

  INLINE Number* place(const Cell& c, int n) const { return field + N * numbered(c) + n; }
  static constexpr int VALUES = N;

private:
  using Plain = decltype(Number() + Number());
  template <int M>
  static constexpr bool WHOLE_RUNS = N % M == 0 && sizeof(Number) >= 4;
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

// f(cell, field) for cells that store runs of M values of a private field. A CPU does LANES `amid` cells together, and then stores the results of
// each lane: compilers need minutes to vectorize stores with strides.
#ifdef GPU
template <int N, int M = 4, class Private, class F>
FN void private_cells(const Range& r, const InteriorAmid&, const Private& field, F f) {
  for_cells(r, CELL(c) { f(c, field); });
}
#else
template <int N>
struct InLanes {
  real (*of)[LANES];
  int first;
  template <int M>
  INLINE void store(const Cell& c, int n, const real (&values)[M]) const {
    for (int m = 0; m < M; ++m) of[n + m][c.i - first] = values[m];
  }
  INLINE void store_four(const Cell& c, int n, const real (&values)[4]) const { store(c, n, values); }
};
template <class Private, class F>
static __attribute__((noinline)) void private_cell(const Cell& c, const Private& field, const F& f) {
  f(c, field);
}
template <int N, int M, class Private, class F>
FN void private_lanes(int first, int j, int k, Index row, const Private& field, F f) {
  real lanes[N][LANES];
#pragma omp simd
  for (int l = 0; l < LANES; ++l) f(InnerOf<true>{{first + l, j, k, row + first + l}, 0, 0, 0}, InLanes<N>{lanes, first});
  for (int l = 0; l < LANES; ++l) {
    const Cell c{first + l, j, k, row + first + l};
    const auto own = field.own(c);
    for (int n = 0; n < N; n += M) {
      real run[M];
      for (int m = 0; m < M; ++m) run[m] = lanes[n + m][l];
      own.store(c, n, run);
    }
  }
}
template <int N, int M = 4, class Private, class F>
FN void private_cells(const Range& r, const InteriorAmid& in, const Private& field, F f) {
  const auto by_row = [=](int from, int to, int j, int k, Index row) __attribute__((always_inline)) {
    const bool inner = j >= in.low[0] && j <= in.high[0] && k >= in.low[1] && k <= in.high[1] && in.right + 1 - in.left >= LANES;
    const int left = inner ? in.left : to, right = inner ? in.right + 1 : to;
    for (int i = from; i < to; i = i + 1 == left ? right : i + 1)
      if (i < left || i >= right) private_cell(Cell{i, j, k, row + i}, field, f);
    // the end of a row is a full vector: some cells are done twice
    for (int i = left; i < right; i += LANES) private_lanes<N, M>(i + LANES < right ? i : right - LANES, j, k, row, field, f);
  };
  for_cells(r, RowFunction<decltype(by_row)>{by_row});
}
#endif
