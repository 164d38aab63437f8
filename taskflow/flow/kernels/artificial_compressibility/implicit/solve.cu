// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#include "cell.h"
#include "factors.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<16, Real_pivot> pivot, OutPrivate<16, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int n = 0; n < 16; ++n) inverse(c, n) = pivot(c, n);
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}

// a less what earlier neighbours bring
template <class Coupling>
FN void take(real (&a)[4], const Coupling& coupling, const SweptCell& c, In p, In u, In v, In w, const Range& range) {
  for (int side = 0; side < 6; ++side) {
    if (!earlier(c, side)) continue;
    const Index there = c + beyond(range, side);
    const real z[4] = {p[there], u[there], v[there], w[there]};
    for (int r = 0; r < 4; ++r) {
      const auto m = coupling.four(c, block_of(side) + 4 * r);
      for (int n = 0; n < 4; ++n) a[r] -= m.of[n] * z[n];
    }
  }
}
// Row r of the inverse of the pivot, times a
template <class Inverse>
FN real row(const Inverse& inverse, const Cell& c, int r, const real (&a)[4]) {
  const auto m = inverse.four(c, 4 * r);
  return (m.of[0] * a[0] + m.of[1] * a[1]) + (m.of[2] * a[2] + m.of[3] * a[3]);
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) {
    real a[4] = {p_r[c], u_r[c], v_r[c], w_r[c]};
    take(a, coupling, c, p, u, v, w, range);
    p[c] = row(inverse, c, 0, a), u[c] = row(inverse, c, 1, a), v[c] = row(inverse, c, 2, a), w[c] = row(inverse, c, 3, a);
  });
}

TASK backward(Range range, InPrivate<96, Real_coupling> coupling, InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_cells(range, sweep, DOWN, CELL(c) {
    real a[4] = {};
    take(a, coupling, c, p, u, v, w, range);
    p[c] += row(inverse, c, 0, a), u[c] += row(inverse, c, 1, a), v[c] += row(inverse, c, 2, a), w[c] += row(inverse, c, 3, a);
  });
}
