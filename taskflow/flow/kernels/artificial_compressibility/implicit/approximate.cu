// What is left of linear equations with the matrix of first order.
#include "cell.h"
#include "sweep.h"
#include "factors.h"

// The numbers m(n) of a row times x in a cell; where they are 0 nothing is coupled, whatever lies there
template <class F>
FN real row_times(F m, const Each<In>& x, Index c, bool coupled) {
  const auto term = [&](int n) {
    const real a = m(n);
    return taken(coupled || a != 0, a * x[n][c]);
  };
  const real one = (term(0) + term(1)) + (term(2) + term(3));
  return UNKNOWNS == 6 ? one + (term(4) + term(5)) : UNKNOWNS == 5 ? one + term(4) : one;
}

template <int R, class Coupling, class Own>
FN real brought(const Each<In>& x, const Coupling& coupling, const Own& own, const Cell& c, const Range& range) {
  real sum = row_times([&](int n) { return own(c, UNKNOWNS * R + n); }, x, c, true);
  for (int side = 0; side < 6; ++side)
    sum += row_times([&](int n) { return coupling(c, block_of(side) + entry(R, n)); }, x, c + beyond(range, side), false);
  return sum;
}

template <int R, class Coupling, class Own>
FN void leave(const Each<Out>& left, const Each<In>& right, const Each<In>& x, const Coupling& coupling, const Own& own, const Cell& c, const Range& range) {
  left[R][c] = right[R][c] - brought<R>(x, coupling, own, c, range);
  if constexpr (R + 1 < UNKNOWNS) leave<R + 1>(left, right, x, coupling, own, c, range);
}

TASK left(Range range, InPrivate<VALUES_coupling_low, Real_coupling_low> coupling_low, InPrivate<VALUES_coupling_high, Real_coupling_high> coupling_high,
          InPrivate<VALUES_own, Real_own> own, In p_r, In u_r, In v_r, In w_r OPTIONAL(T_r) OPTIONAL(scalar_r), In p_x, In u_x, In v_x,
          In w_x OPTIONAL(T_x) OPTIONAL(scalar_x), Out p, Out u, Out v, Out w OPTIONAL(T) OPTIONAL(scalar)) {
  const auto coupling = halves(coupling_low, coupling_high);
  const auto right = each<In>(p_r, u_r, v_r, w_r, T_r, scalar_r), x = each<In>(p_x, u_x, v_x, w_x, T_x, scalar_x);
  const auto all = each<Out>(p, u, v, w, T, scalar);
  for_cells(range, CELL(c) { leave<0>(all, right, x, coupling, own, c, range); });
}
