// The two triangular solves with the factors of invert.cu.
#define ROWS 4
#ifdef WHOLE
#define BX 288
#else
#define BX 256
#endif
#define BY 1
#include "cell.h"
#include "factors.h"
#include "sweep_rows.h"

#if !defined(GPU) && !defined(double) && defined(__has_builtin)  // nor where numbers are counted, see counted.h
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLES
#endif
#endif
// Rows of a block times four values: (m0 z0 + m1 z1) + (m2 z2 + m3 z3)
template <class Four>
FN void times(const Four (&rows)[OWN], const real (&z)[4], real (&product)[OWN]) {
#ifdef SHUFFLES  // four rows side by side: compilers find no vectors in sums along them
  typedef real Vector __attribute__((vector_size(4 * sizeof(real))));
  typedef decltype(rows[0].of[0] + 0) Row __attribute__((vector_size(4 * sizeof(rows[0].of[0]))));
  const Vector values = {z[0], z[1], z[2], z[3]};
  Vector p[4];
  for (int r = 0; r < 4; ++r) {
    Row row;
    memcpy(&row, rows[r].of, sizeof row);
    p[r] = __builtin_convertvector(row, Vector) * values;
  }
  const auto pairs = [](const Vector& a, const Vector& b) { return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7); };
  const Vector low = pairs(p[0], p[1]), high = pairs(p[2], p[3]);
  const Vector sum = __builtin_shufflevector(low, high, 0, 1, 4, 5) + __builtin_shufflevector(low, high, 2, 3, 6, 7);
  for (int r = 0; r < 4; ++r) product[r] = sum[r];
#else
  for (int r = 0; r < OWN; ++r) product[r] = (rows[r][0] * z[0] + rows[r][1] * z[1]) + (rows[r][2] * z[2] + rows[r][3] * z[3]);
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
  using Four = decltype(coupling.four(Cell(), 0));
  struct Ahead {
    Four block[3][OWN], inverse[OWN];
  };
  // Each of four threads asks for one of the blocks
  INLINE void fetch(const SweptCell& c, int row) const {
    if (row == 3)
      inverse.fetch_four(c, 0);
    else
      coupling.fetch_four(c, block_of(2 * row + ODD));
  }
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
  INLINE real value(Index cell, int n) const { return one_of(n, x)[cell]; }
  INLINE void store(const SweptCell& c, int row, const real (&values)[OWN]) const {
    for (int r = 0; r < OWN; ++r) one_of(row + r, x)[c] = values[r];
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
