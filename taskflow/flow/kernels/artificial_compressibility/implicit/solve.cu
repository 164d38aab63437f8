// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#define ROWS 4
#define BX 256
#define BY 1
#include "cell.h"
#include "factors.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<16, Real_pivot> pivot, OutPrivate<16, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int n = 0; n < 16; n += 4) inverse.store_four(c, n, {pivot(c, n), pivot(c, n + 1), pivot(c, n + 2), pivot(c, n + 3)});
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}

// One of the fields of four unknowns
template <class Q>
FN Q one_of(int n, Q p, Q u, Q v, Q w) {
  return n == 0 ? p : n == 1 ? u : n == 2 ? v : w;
}

// What a sweep reads of a cell alone: rows of the blocks of its low or its high sides that are earlier, and of the inverse of the
// pivot, and its own values
template <class Number>
struct Ahead {
  FourOf<Number> block[3][OWN], inverse[OWN];
  real own[OWN];
};
template <int ODD, class Coupling, class Inverse>
FN auto ahead(const Coupling& coupling, const Inverse& inverse, const SweptCell& c, int row, In p, In u, In v, In w) {
  Ahead<decltype(coupling.four(c, 0).of[0] + 0)> a;
#pragma unroll
  for (int m = 0; m < 3; ++m)
    if (earlier(c, 2 * m + ODD))
      for (int r = 0; r < OWN; ++r) a.block[m][r] = coupling.four(c, block_of(2 * m + ODD) + 4 * (row + r));
  for (int r = 0; r < OWN; ++r) a.inverse[r] = inverse.four(c, 4 * (row + r)), a.own[r] = one_of(row + r, p, u, v, w)[c];
  return a;
}

// The inverse of the pivot times `own` less what earlier neighbours bring; those on the other sides belong to other tiles
template <int ODD, class A, class Coupling>
FN void solve(real (&own)[OWN], const A& a, const Coupling& coupling, const SweptCell& c, int row, In p, In u, In v, In w, const Range& range) {
#pragma unroll
  for (int side = 0; side < 6; ++side) {
    if (!earlier(c, side)) continue;
    const Index there = c + beyond(range, side);
    const real z[4] = {p[there], u[there], v[there], w[there]};
    for (int r = 0; r < OWN; ++r) {
      const auto m = (side & 1) == ODD ? a.block[side >> 1][r] : coupling.four(c, block_of(side) + 4 * (row + r));
      for (int n = 0; n < 4; ++n) own[r] -= m[n] * z[n];
    }
  }
  real all[4];
  gather(own, all);
  for (int r = 0; r < OWN; ++r) {
    const auto& m = a.inverse[r];
    own[r] = (m[0] * all[0] + m[1] * all[1]) + (m[2] * all[2] + m[3] * all[3]);
  }
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  const auto load = [=](const SweptCell& c, int row) { return ahead<0>(coupling, inverse, c, row, p_r, u_r, v_r, w_r); };
  sweep_rows(range, sweep, UP, load, [=](const SweptCell& c, int row, const auto& a) {
    real own[OWN];
    for (int r = 0; r < OWN; ++r) own[r] = a.own[r];
    solve<0>(own, a, coupling, c, row, p, u, v, w, range);
    for (int r = 0; r < OWN; ++r) one_of(row + r, p, u, v, w)[c] = own[r];
  });
}

TASK backward(Range range, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  const auto load = [=](const SweptCell& c, int row) { return ahead<1>(coupling, inverse, c, row, p, u, v, w); };
  sweep_rows(range, sweep, DOWN, load, [=](const SweptCell& c, int row, const auto& a) {
    real own[OWN] = {};
    solve<1>(own, a, coupling, c, row, p, u, v, w, range);
    for (int r = 0; r < OWN; ++r) one_of(row + r, p, u, v, w)[c] = a.own[r] + own[r];
  });
}
