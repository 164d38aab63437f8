// What is left of linear equations with the matrix of first order.
#include "cell.h"
#include "sweep.h"
#include "factors.h"

template <int R, class Coupling, class Own>
FN real brought(In p, In u, In v, In w, const Coupling& coupling, const Own& own, const Cell& c, const Range& range) {
  real sum = (own(c, 4 * R) * p[c] + own(c, 4 * R + 1) * u[c]) + (own(c, 4 * R + 2) * v[c] + own(c, 4 * R + 3) * w[c]);
  for (int side = 0; side < 6; ++side) {
    const Index there = c + beyond(range, side);
    const int n = block_of(side);
    // beyond sides nothing is coupled, whatever lies there
    const real a[4] = {coupling(c, n + entry(R, 0)), coupling(c, n + entry(R, 1)), coupling(c, n + entry(R, 2)), coupling(c, n + entry(R, 3))};
    sum += (taken(a[0] != 0, a[0] * p[there]) + taken(a[1] != 0, a[1] * u[there])) + (taken(a[2] != 0, a[2] * v[there]) + taken(a[3] != 0, a[3] * w[there]));
  }
  return sum;
}

TASK left(Range range, InPrivate<48, Real_coupling_low> coupling_low, InPrivate<48, Real_coupling_high> coupling_high, InPrivate<16, Real_own> own,
          In p_r, In u_r, In v_r, In w_r, In p_x, In u_x, In v_x, In w_x, Out p, Out u, Out v, Out w) {
  const auto coupling = halves(coupling_low, coupling_high);
  for_cells(range, CELL(c) {
    p[c] = p_r[c] - brought<0>(p_x, u_x, v_x, w_x, coupling, own, c, range);
    u[c] = u_r[c] - brought<1>(p_x, u_x, v_x, w_x, coupling, own, c, range);
    v[c] = v_r[c] - brought<2>(p_x, u_x, v_x, w_x, coupling, own, c, range);
    w[c] = w_r[c] - brought<3>(p_x, u_x, v_x, w_x, coupling, own, c, range);
  });
}
