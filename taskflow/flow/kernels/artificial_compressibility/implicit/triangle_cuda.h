// A triangular solve on a GPU, four threads a cell: see sweep_rows.h.
template <class Four>
FN void times(const Four (&fours)[OWN], const real (&z)[4], real (&product)[OWN]) {
  product[0] = (fours[0][0] * z[0] + fours[0][1] * z[1]) + (fours[0][2] * z[2] + fours[0][3] * z[3]);
}

template <int ODD, class Coupling, class Inverse>
struct Triangle {
  Coupling coupling;
  Inverse inverse;
  In right[4];
  InOut x[4];
  In own_right[OWN];
  InOut own_x[OWN];
  using Four = decltype(coupling.four(Cell(), 0));
  struct Ahead {
    Four block[3][OWN], inverse[OWN];
  };
  // Each of four threads asks for one of the blocks
  INLINE const void* place(const SweptCell& c, int row) const {
    const void *of_pivot = inverse.place(c, 0), *of_side = coupling.place(c, block_of(2 * (row < 3 ? row : 0) + ODD));
    return row == 3 ? of_pivot : of_side;
  }
  INLINE void fetch(const SweptCell& c, int row) const { ::fetch(place(c, row), ROWS * sizeof(Four)); }
  INLINE void fetch_side(const SweptCell& c, int side) const { ::fetch(coupling.place(c, block_of(side)), ROWS * sizeof(Four)); }
  INLINE Triangle of_row(int row) const {
    Triangle t = *this;
    for (int r = 0; r < OWN; ++r) t.own_right[r] = one_of(row + r, right), t.own_x[r] = one_of(row + r, x);
    return t;
  }
  INLINE Ahead ahead(const SweptCell& c, int row, unsigned sides) const {
    Ahead a;
#pragma unroll
    for (int m = 0; m < 3; ++m)
      if (sides >> (2 * m + ODD) & 1)
        for (int r = 0; r < OWN; ++r) a.block[m][r] = coupling.four(c, block_of(2 * m + ODD) + 4 * (row + r));
    for (int r = 0; r < OWN; ++r) a.inverse[r] = inverse.four(c, 4 * (row + r));
    return a;
  }
  INLINE void begin(const SweptCell& c, real (&sums)[OWN], real (&old)[OWN]) const {
    for (int r = 0; r < OWN; ++r) sums[r] = ODD ? real(0) : own_right[r][c], old[r] = ODD ? own_x[r][c] : real(0);
  }
  INLINE void bring(const SweptCell& c, int row, int side, const real (&z)[4], real (&sums)[OWN]) const {
    Four block[OWN];
    for (int r = 0; r < OWN; ++r) block[r] = coupling.four(c, block_of(side) + 4 * (row + r));
    take(block, z, sums);
  }
  INLINE void bring(const Ahead& a, int side, const real (&z)[4], real (&sums)[OWN]) const { take(a.block[side >> 1], z, sums); }
  INLINE void end(const Ahead& a, const real (&all)[4], const real (&old)[OWN], real (&values)[OWN]) const {
    real product[OWN];
    times(a.inverse, all, product);
    for (int r = 0; r < OWN; ++r) values[r] = ODD ? old[r] + product[r] : product[r];
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
        if (sides >> (2 * m + ODD) & 1) a.block[m][0] = Half::four(coupling + block_of(2 * m));
      a.inverse[0] = Inverse::four(inverse);
    }
    INLINE void begin(real& sum, real& old) const { sum = ODD ? real(0) : *right, old = ODD ? *x : real(0); }
    INLINE real beyond(int n, Index cells) const { return x[n * step + cells]; }
    INLINE void fetch() const { ::fetch(far, ROWS * sizeof(Four)); }
    INLINE void store(int n, real value) const { x[n * step] = value; }
  };
  // From a cell on, with what is fetched so many cells ahead
  INLINE Way way(const SweptCell& c, int row, int ahead_by) const {
    const int far_step = Way::step * int(row == 3 ? Inverse::VALUES * sizeof(*inverse.field) : HALF * sizeof(*coupling.low.field));
    const char* far = static_cast<const char*>(place(c, row)) + ahead_by * far_step;
    return {coupling.place(c, block_of(ODD) + 4 * row), inverse.place(c, 4 * row), own_right[0] + Index(c), own_x[0] + Index(c), far, far_step};
  }
  INLINE void store(const SweptCell& c, const real (&values)[OWN]) const {
    for (int r = 0; r < OWN; ++r) own_x[r][c] = values[r];
  }

private:
  // A selection: an index that is only known when it runs would put the four fields into memory
  template <class Q>
  INLINE static Q one_of(int n, const Q (&q)[4]) {
    return n == 0 ? q[0] : n == 1 ? q[1] : n == 2 ? q[2] : q[3];
  }
  INLINE static void take(const Four (&block)[OWN], const real (&z)[4], real (&sums)[OWN]) {
    real product[OWN];
    times(block, z, product);
    for (int r = 0; r < OWN; ++r) sums[r] -= product[r];
  }
};
