// The level set made a distance again: a stage of Runge-Kutta (C.-W. Shu, S. Osher 1988). Beyond `band.weno` of the interface
// differences are of first order.
#define UZ 32
#define UNROLL 2
#define RESIDENT 2
#include "cell.h"
#include "weno.h"

FN real square(real a) { return a * a; }

// The steeper of both slopes after Godunov, where d is to grow outwards from the interface, which has the sign `side` on this side:
// 0 where d grows to neither
FN real upwind(real low, real high, real side) { return greater(greater(side * low, -side * high), real(0)); }

template <class C>
FN real first_order_square(In d, const C& c, const Line& a, real side) {
  const real here = d[c];
  return square(a.inverse * upwind(here - a.low(d, c, 1), a.high(d, c, 1) - here, side));
}

FN real fifth_order_square(In d, Index c, const Line& a, real side) {
  const Slopes s = fifth_order(d, c, a);
  return square(upwind(s.low, s.high, side));
}

// d_new = begun phi + now (d - tau S (|grad d| - 1)), S = phi / sqrt(phi^2 + sum over axes of (h dphi/dx)^2)
TASK reinitialise(Range range, In d, In phi, Out d_new, Grid grid, Band band, RungeKuttaStage stage) {
  STRIDES(range)
  const auto nearer = [=](auto c, const Lines& a, real steep) {
    const real before = phi[c];
    const real near = square(change(phi, c, a.x)) + square(change(phi, c, a.y)) + square(change(phi, c, a.z));
    const real size = root(before * before + near), sign = size > 0 ? before * reciprocal(size) : real(0);
    return stage.begun * before + stage.now * (d[c] - band.tau * sign * (root(steep) - 1));
  };
  const auto far = CELL(c) {
    const Lines a = lines(grid, c, X, Y, Z, band);
    const real side = phi[c] > 0 ? 1 : -1;
    return nearer(c, a, first_order_square(d, c, a.x, side) + first_order_square(d, c, a.y, side) +
                            first_order_square(d, c, a.z, side));
  };
  most_cells(range, clear_of_walls(grid), far, CELL(c) { return magnitude(d[c]) < band.weno; }, CELL(c) {
    const Lines a = lines(grid, c, X, Y, Z, band);
    const real side = phi[c] > 0 ? 1 : -1;
    real steep;
    if (magnitude(d[c]) < band.weno) {
      steep = fifth_order_square(d, c, a.x, side) + fifth_order_square(d, c, a.y, side) + fifth_order_square(d, c, a.z, side);
    } else {
      steep = first_order_square(d, c, a.x, side) + first_order_square(d, c, a.y, side) + first_order_square(d, c, a.z, side);
    }
    return nearer(c, a, steep);
  }, STORE(c, value) { d_new[c] = value; });
}
