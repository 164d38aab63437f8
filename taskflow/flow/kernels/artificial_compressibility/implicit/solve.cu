// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#define ROWS 4
#define BX 256
#define BY 1
#include "cell.h"
#include "factors.h"
#include "sweep_rows.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<16, Real_pivot> pivot, OutPrivate<16, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int n = 0; n < 16; n += 4) inverse.store_four(c, n, {pivot(c, n), pivot(c, n + 1), pivot(c, n + 2), pivot(c, n + 3)});
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}

// With the blocks L of earlier neighbours and the pivot D, forward: x = D^-1 (r - sum of L x there); backward: x -= D^-1 (sum of L x there).
// In a tile earlier neighbours lie beyond low sides forward, and beyond high ones (ODD) backward.
template <int ODD, class Coupling, class Inverse>
struct Triangle {
  Coupling coupling;
  Inverse inverse;
  In right[4];
  InOut x[4];
  using Four = decltype(coupling.four(Cell(), 0));
  struct Ahead {
    Four block[3][OWN], inverse[OWN];
  };
  INLINE Ahead ahead(const SweptCell& c, int row) const {
    Ahead a;
#pragma unroll
    for (int m = 0; m < 3; ++m)
      if ((c.sides & ~c.outside) >> (2 * m + ODD) & 1)
        for (int r = 0; r < OWN; ++r) a.block[m][r] = coupling.four(c, block_of(2 * m + ODD) + 4 * (row + r));
    for (int r = 0; r < OWN; ++r) a.inverse[r] = inverse.four(c, 4 * (row + r));
    return a;
  }
  INLINE void begin(const SweptCell& c, int row, real (&sums)[OWN], real (&old)[OWN]) const {
    for (int r = 0; r < OWN; ++r) sums[r] = ODD ? real(0) : one_of(row + r, right)[c], old[r] = ODD ? one_of(row + r, x)[c] : real(0);
  }
  INLINE void bring(const SweptCell& c, int row, int side, const real (&z)[4], real (&sums)[OWN]) const {
    for (int r = 0; r < OWN; ++r) less(sums[r], coupling.four(c, block_of(side) + 4 * (row + r)), z);
  }
  INLINE void bring(const Ahead& a, int side, const real (&z)[4], real (&sums)[OWN]) const {
    for (int r = 0; r < OWN; ++r) less(sums[r], a.block[side >> 1][r], z);
  }
  INLINE void end(const Ahead& a, const real (&all)[4], const real (&old)[OWN], real (&values)[OWN]) const {
    for (int r = 0; r < OWN; ++r) {
      const Four& m = a.inverse[r];
      values[r] = (m[0] * all[0] + m[1] * all[1]) + (m[2] * all[2] + m[3] * all[3]);
      if (ODD) values[r] = old[r] + values[r];
    }
  }
  INLINE real value(Index there, int n) const { return x[n][there]; }
  INLINE void store(const SweptCell& c, int row, const real (&values)[OWN]) const {
    for (int r = 0; r < OWN; ++r) one_of(row + r, x)[c] = values[r];
  }

private:
  // A selection: an index that is only known when it runs would put the four fields into memory
  template <class Q>
  INLINE static Q one_of(int n, const Q (&q)[4]) {
    return n == 0 ? q[0] : n == 1 ? q[1] : n == 2 ? q[2] : q[3];
  }
  INLINE static void less(real& sum, const Four& m, const real (&z)[4]) {
    for (int n = 0; n < 4; ++n) sum -= m[n] * z[n];
  }
};
template <int ODD, class Coupling, class Inverse>
FN Triangle<ODD, Coupling, Inverse> triangle(const Coupling& coupling, const Inverse& inverse, In p_r, In u_r, In v_r, In w_r, InOut p, InOut u, InOut v, InOut w) {
  return {coupling, inverse, {p_r, u_r, v_r, w_r}, {p, u, v, w}};
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  sweep_rows(range, sweep, UP, triangle<0>(coupling, inverse, p_r, u_r, v_r, w_r, p, u, v, w));
}

TASK backward(Range range, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_rows(range, sweep, DOWN, triangle<1>(coupling, inverse, p, u, v, w, p, u, v, w));
}
