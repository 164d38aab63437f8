// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#define BX 64
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

// What a sweep reads of a cell alone: the blocks of its low or its high sides that are earlier, the inverse of the pivot, and its own
// values, which no cell before changes
template <class Number>
struct Ahead {
  FourOf<Number> block[3][4], inverse[4];
  real own[4];
};
template <int ODD, class Coupling, class Inverse>
FN auto ahead(const Coupling& coupling, const Inverse& inverse, const SweptCell& c, In p, In u, In v, In w) {
  Ahead<decltype(coupling.four(c, 0).of[0] + 0)> f;
  f.own[0] = p[c], f.own[1] = u[c], f.own[2] = v[c], f.own[3] = w[c];
#pragma unroll
  for (int m = 0; m < 3; ++m)
    if (earlier(c, 2 * m + ODD))
      for (int r = 0; r < 4; ++r) f.block[m][r] = coupling.four(c, block_of(2 * m + ODD) + 4 * r);
  for (int r = 0; r < 4; ++r) f.inverse[r] = inverse.four(c, 4 * r);
  return f;
}

// The inverse of the pivot times `a` less what earlier neighbours bring; those on the other sides belong to other tiles
template <int ODD, class F, class Coupling>
FN void solve(real (&a)[4], const F& f, const Coupling& coupling, const SweptCell& c, In p, In u, In v, In w, const Range& range) {
#pragma unroll
  for (int side = 0; side < 6; ++side) {
    if (!earlier(c, side)) continue;
    const Index there = c + beyond(range, side);
    const real z[4] = {p[there], u[there], v[there], w[there]};
    for (int r = 0; r < 4; ++r) {
      const auto m = (side & 1) == ODD ? f.block[side >> 1][r] : coupling.four(c, block_of(side) + 4 * r);
      for (int n = 0; n < 4; ++n) a[r] -= m[n] * z[n];
    }
  }
  real x[4];
  for (int r = 0; r < 4; ++r) {
    const auto& m = f.inverse[r];
    x[r] = (m[0] * a[0] + m[1] * a[1]) + (m[2] * a[2] + m[3] * a[3]);
  }
  for (int r = 0; r < 4; ++r) a[r] = x[r];
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) { return ahead<0>(coupling, inverse, c, p_r, u_r, v_r, w_r); }, [=](const SweptCell& c, const auto& f) {
    real a[4] = {f.own[0], f.own[1], f.own[2], f.own[3]};
    solve<0>(a, f, coupling, c, p, u, v, w, range);
    p[c] = a[0], u[c] = a[1], v[c] = a[2], w[c] = a[3];
  });
}

TASK backward(Range range, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_cells(range, sweep, DOWN, CELL(c) { return ahead<1>(coupling, inverse, c, p, u, v, w); }, [=](const SweptCell& c, const auto& f) {
    real a[4] = {};
    solve<1>(a, f, coupling, c, p, u, v, w, range);
    p[c] = f.own[0] + a[0], u[c] = f.own[1] + a[1], v[c] = f.own[2] + a[2], w[c] = f.own[3] + a[3];
  });
}
