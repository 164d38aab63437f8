// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#define ROWS 4
#define BX 256
#define BY 1
#ifdef WHOLE
#define RESIDENT 2
#else
#define RESIDENT (sizeof(Real_coupling_low) == 4 ? 3 : 2)
#endif
#include "cell.h"
#include "factors.h"
#include "sweep_rows.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<16, Real_pivot> pivot, OutPrivate<16, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int q = 0; q < 4; ++q)
      inverse.store_four(c, 4 * q, {pivot(c, entry(q, 0)), pivot(c, entry(q, 1)), pivot(c, entry(q, 2)), pivot(c, entry(q, 3))});
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}

// A block times four values, in each row (m0 z0 + m1 z1) + (m2 z2 + m3 z3)
template <class Four>
FN void times(const Four (&fours)[OWN], const real (&z)[4], real (&product)[OWN]) {
#ifdef GPU
  product[0] = (fours[0][0] * z[0] + fours[0][1] * z[1]) + (fours[0][2] * z[2] + fours[0][3] * z[3]);
#elif defined(QUADS)
  const Quad sum = (quad(fours[0].of) * z[0] + quad(fours[1].of) * z[1]) + (quad(fours[2].of) * z[2] + quad(fours[3].of) * z[3]);
  memcpy(product, &sum, sizeof sum);
#else
  for (int r = 0; r < 4; ++r) product[r] = (fours[0][r] * z[0] + fours[1][r] * z[1]) + (fours[2][r] * z[2] + fours[3][r] * z[3]);
#endif
}

// With the blocks L of earlier neighbours and the pivot D, forward: x = D^-1 (r - sum of L x of theirs); backward: x -= D^-1 (sum of L x of theirs).
// In a tile earlier neighbours lie beyond low sides forward, and beyond high ones (ODD) backward.
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
#ifndef GPU
  // The same in the tile of a cell
  INLINE auto tile(const Cell& c) const {
    using Here = Triangle<ODD, decltype(coupling.tile(c)), decltype(inverse.tile(c))>;
    return Here{coupling.tile(c), inverse.tile(c), {right[0], right[1], right[2], right[3]}, {x[0], x[1], x[2], x[3]}, {}, {}};
  }
  // Two lines each, as rows begin anywhere
  INLINE void fetch_values(const Cell& c) const {
    for (int n = 0; n < 4; ++n)
      for (int m = 0; m < 8; m += 7) {
        if (!ODD) __builtin_prefetch(right[n] + Index(c) + m);
        __builtin_prefetch(x[n] + Index(c) + m, 1);
      }
  }
#endif
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
#ifdef GPU
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
#endif
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
#ifdef QUADS  // between choices of sides compilers see four numbers
    const Quad sum = quad(sums) - quad(product);
    memcpy(sums, &sum, sizeof sum);
#else
    for (int r = 0; r < OWN; ++r) sums[r] -= product[r];
#endif
  }
};
template <int ODD, class Coupling, class Inverse>
FN Triangle<ODD, Coupling, Inverse> triangle(const Coupling& coupling, const Inverse& inverse, In p_r, In u_r, In v_r, In w_r, InOut p, InOut u, InOut v, InOut w) {
  return {coupling, inverse, {p_r, u_r, v_r, w_r}, {p, u, v, w}, {}, {}};
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<48, Real_coupling_low> coupling_low, InPrivate<48, Real_coupling_high> coupling_high,
             InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_rows(range, sweep, UP, triangle<0>(halves(coupling_low, coupling_high), inverse, p_r, u_r, v_r, w_r, p, u, v, w));
}

TASK backward(Range range, InPrivate<48, Real_coupling_low> coupling_low, InPrivate<48, Real_coupling_high> coupling_high,
              InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_rows(range, sweep, DOWN, triangle<1>(halves(coupling_low, coupling_high), inverse, p, u, v, w, p, u, v, w));
}
