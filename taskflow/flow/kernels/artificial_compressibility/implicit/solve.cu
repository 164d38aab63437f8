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

// What a sweep reads of a cell alone: a row of the blocks of its low or its high sides that are earlier, of the inverse of the
// pivot, and its own value
template <class Number>
struct Row {
  FourOf<Number> block[3], inverse;
  real own;
};
template <int ODD, class Coupling, class Inverse>
FN auto row_of(const Coupling& coupling, const Inverse& inverse, const SweptCell& c, int row, real own) {
  Row<decltype(coupling.four(c, 0).of[0] + 0)> r;
#pragma unroll
  for (int m = 0; m < 3; ++m)
    if (earlier(c, 2 * m + ODD)) r.block[m] = coupling.four(c, block_of(2 * m + ODD) + 4 * row);
  r.inverse = inverse.four(c, 4 * row), r.own = own;
  return r;
}

// `a` less what earlier neighbours bring; those on the other sides belong to other tiles
template <int ODD, class R, class Coupling>
FN real less(real a, const R& r, const Coupling& coupling, const SweptCell& c, int row, In p, In u, In v, In w, const Range& range) {
#pragma unroll
  for (int side = 0; side < 6; ++side) {
    if (!earlier(c, side)) continue;
    const Index there = c + beyond(range, side);
    const auto m = (side & 1) == ODD ? r.block[side >> 1] : coupling.four(c, block_of(side) + 4 * row);
    a -= m[0] * p[there], a -= m[1] * u[there], a -= m[2] * v[there], a -= m[3] * w[there];
  }
  return a;
}
template <class R>
FN real times(const R& r, const real (&a)[4]) {
  return (r.inverse[0] * a[0] + r.inverse[1] * a[1]) + (r.inverse[2] * a[2] + r.inverse[3] * a[3]);
}
// One of the four fields
template <class Q>
FN Q one_of(int n, Q p, Q u, Q v, Q w) {
  return n == 0 ? p : n == 1 ? u : n == 2 ? v : w;
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  sweep_rows<4>(
      range, sweep, UP, [=](const SweptCell& c, int n) { return row_of<0>(coupling, inverse, c, n, one_of(n, p_r, u_r, v_r, w_r)[c]); },
      [=](const SweptCell& c, int n, const auto& r) { return less<0>(r.own, r, coupling, c, n, p, u, v, w, range); },
      [=](const SweptCell& c, int n, const auto& r, const real (&a)[4]) { one_of(n, p, u, v, w)[c] = times(r, a); });
}

TASK backward(Range range, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_rows<4>(
      range, sweep, DOWN, [=](const SweptCell& c, int n) { return row_of<1>(coupling, inverse, c, n, one_of(n, p, u, v, w)[c]); },
      [=](const SweptCell& c, int n, const auto& r) { return less<1>(0, r, coupling, c, n, p, u, v, w, range); },
      [=](const SweptCell& c, int n, const auto& r, const real (&a)[4]) { one_of(n, p, u, v, w)[c] = r.own + times(r, a); });
}
