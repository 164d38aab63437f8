// A triangular solve on a GPU, ROWS threads a cell: see sweep_rows.h.
template <class Line>
FN real times(const Line& m, const real (&z)[UNKNOWNS]) {
  const real one = (m[0] * z[0] + m[1] * z[1]) + (m[2] * z[2] + m[3] * z[3]);
#ifdef SCALAR
  return one + (m[4] * z[4] + m[5] * z[5]);
#elif defined(HEAT)
  return one + m[4] * z[4];
#else
  return one;
#endif
}

template <int ODD, class Coupling, class Inverse>
struct Triangle {
  static constexpr int COUNT = UNKNOWNS;
  Coupling coupling;
  Inverse inverse;
  Each<In> right;
  Each<InOut> x;
  In own_right;
  InOut own_x;
  using Line = decltype(line(coupling, Cell(), 0));
  struct Ahead {
    Line block[3], inverse;
  };
  // Each of the first four threads asks for one of the blocks
  INLINE const void* place(const SweptCell& c, int row) const {
    const void *of_pivot = inverse.place(c, 0), *of_side = coupling.place(c, block_of(2 * (row < 3 ? row : 0) + ODD));
    return row >= 3 ? of_pivot : of_side;
  }
  INLINE void fetch(const SweptCell& c, int row) const { ::fetch(place(c, row), UNKNOWNS * sizeof(Line)); }
  INLINE Triangle of_row(int row) const {
    Triangle t = *this;
    t.own_right = one_of(row, right), t.own_x = one_of(row, x);
    return t;
  }
  INLINE Ahead ahead(const SweptCell& c, int row, unsigned sides) const {
    Ahead a;
#pragma unroll
    for (int m = 0; m < 3; ++m)
      if (sides >> (2 * m + ODD) & 1) a.block[m] = line(coupling, c, block_of(2 * m + ODD) + UNKNOWNS * row);
    a.inverse = line(inverse, c, UNKNOWNS * row);
    return a;
  }
  INLINE void begin(const SweptCell& c, real& sum, real& old) const { sum = ODD ? real(0) : own_right[c], old = ODD ? own_x[c] : real(0); }
  INLINE void bring(const SweptCell& c, int row, int side, const real (&z)[UNKNOWNS], real& sum) const {
    sum -= times(line(coupling, c, block_of(side) + UNKNOWNS * row), z);
  }
  INLINE void bring(const Ahead& a, int side, const real (&z)[UNKNOWNS], real& sum) const { sum -= times(a.block[side >> 1], z); }
  INLINE real end(const Ahead& a, const real (&all)[UNKNOWNS], real old) const {
    const real product = times(a.inverse, all);
    return ODD ? old + product : product;
  }
  INLINE real value(Index cell, int n) const { return x[n][cell]; }
  // A thread's way through a column: what it loads of a cell is a step of memory from that of the cell before.
  struct Way {
    static constexpr int step = ODD ? -1 : 1;
    using Half = decltype(Coupling::low);  // the other one is alike
    decltype(Half::field) coupling;
    decltype(Inverse::field) inverse;
    In right;
    InOut x;
    const char* far;
    int far_step;
    INLINE void go_on() { coupling += step * HALF, inverse += step * Inverse::VALUES, right += step, x += step, far += far_step; }
    INLINE void load(unsigned sides, Ahead& a) const {
#pragma unroll
      for (int m = 0; m < 3; ++m)
        if (sides >> (2 * m + ODD) & 1) a.block[m] = Half::template several<UNKNOWNS>(coupling + block_of(2 * m));
      a.inverse = Inverse::template several<UNKNOWNS>(inverse);
    }
    INLINE void begin(real& sum, real& old) const { sum = ODD ? real(0) : *right, old = ODD ? *x : real(0); }
    INLINE real beyond(int n, Index cells) const { return x[n * step + cells]; }
    INLINE void fetch() const { ::fetch(far, UNKNOWNS * sizeof(Line)); }
    INLINE void store(int n, real value) const { x[n * step] = value; }
  };
  // From a cell on, with what is fetched so many cells ahead
  INLINE Way way(const SweptCell& c, int row, int ahead_by) const {
    const int far_step = Way::step * int(row >= 3 ? Inverse::VALUES * sizeof(*inverse.field) : HALF * sizeof(*coupling.low.field));
    const char* far = static_cast<const char*>(place(c, row)) + ahead_by * far_step;
    return {coupling.place(c, block_of(ODD) + UNKNOWNS * row), inverse.place(c, UNKNOWNS * row), own_right + Index(c), own_x + Index(c), far, far_step};
  }
  INLINE void store(const SweptCell& c, real value) const { own_x[c] = value; }

private:
  // A selection: an index that is only known when it runs would put the fields into memory
  template <class Q, int N = 0>
  INLINE static Q one_of(int n, const Each<Q>& q) {
    if constexpr (N + 1 < UNKNOWNS) return n == N ? q[N] : one_of<Q, N + 1>(n, q);
    return q[N];
  }
};
