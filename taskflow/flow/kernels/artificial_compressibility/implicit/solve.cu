// The two triangular solves with the factors of invert.cu, and the first cell that has none.
#include "cell.h"

// The first cell, numbered so, whose inverse is none
TASK unsound(Range range, InValuesOf<16, Real_pivot> pivot, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
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
    for (int r = 0; r < 4; ++r)
      for (int n = 0; n < 4; ++n) a[r] -= coupling(c, 16 * side + 4 * r + n) * z[n];
  }
}
template <class Pivot>
FN real row(const Pivot& pivot, const Cell& c, int r, const real (&a)[4]) {
  return (pivot(c, 4 * r) * a[0] + pivot(c, 4 * r + 1) * a[1]) + (pivot(c, 4 * r + 2) * a[2] + pivot(c, 4 * r + 3) * a[3]);
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<96, Real_coupling> coupling, InValuesOf<16, Real_pivot> pivot, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) {
    real a[4] = {p_r[c], u_r[c], v_r[c], w_r[c]};
    take(a, coupling, c, p, u, v, w, range);
    p[c] = row(pivot, c, 0, a), u[c] = row(pivot, c, 1, a), v[c] = row(pivot, c, 2, a), w[c] = row(pivot, c, 3, a);
  });
}

TASK backward(Range range, InPrivate<96, Real_coupling> coupling, InValuesOf<16, Real_pivot> pivot, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_cells(range, sweep, DOWN, CELL(c) {
    real a[4] = {};
    take(a, coupling, c, p, u, v, w, range);
    p[c] += row(pivot, c, 0, a), u[c] += row(pivot, c, 1, a), v[c] += row(pivot, c, 2, a), w[c] += row(pivot, c, 3, a);
  });
}
