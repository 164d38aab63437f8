// One-sided derivatives of fifth order (WENO5: G.-S. Jiang, D. Peng 2000, SIAM J. Sci. Comput. 21, 2126), and of first order.
#include "neighbours.h"

// Unlike `larger` it has no eye for NaN, which else keeps loops from being vector loops.
FN real greater(real a, real b) { return b > a ? b : a; }

// The derivative from five differences in a row, v[2] being the one beside the point, on its upwind side. The smallest number
// keeps weights finite where q is even, and 1e-6 of the largest difference makes them independent of units.
FN real weno(real v0, real v1, real v2, real v3, real v4) {
  const auto square = [](real a) { return a * a; };
  const real rough0 = real(13.0 / 12) * square(v0 - 2 * v1 + v2) + real(0.25) * square(v0 - 4 * v1 + 3 * v2);
  const real rough1 = real(13.0 / 12) * square(v1 - 2 * v2 + v3) + real(0.25) * square(v1 - v3);
  const real rough2 = real(13.0 / 12) * square(v2 - 2 * v3 + v4) + real(0.25) * square(3 * v2 - 4 * v3 + v4);
  const real most = greater(greater(greater(square(v0), square(v1)), greater(square(v2), square(v3))), square(v4));
  const real least = real(1e-6) * most + (sizeof(real) == 4 ? real(1e-18) : real(1e-99));
  const real a0 = real(0.1) * reciprocal(square(rough0 + least)), a1 = real(0.6) * reciprocal(square(rough1 + least));
  const real a2 = real(0.3) * reciprocal(square(rough2 + least));
  const real q0 = 2 * v0 - 7 * v1 + 11 * v2, q1 = -v1 + 5 * v2 + 2 * v3, q2 = 2 * v2 + 5 * v3 - v4;
  return (a0 * q0 + a1 * q1 + a2 * q2) * reciprocal(6 * (a0 + a1 + a2));
}

// The derivatives of q along an axis in a cell, from its low and from its high side
struct Slopes {
  real low, high;
};

FN Slopes first_order(In q, Index c, const Line& a) {
  const real here = q[c];
  return {a.inverse * (here - a.low(q, c, 1)), a.inverse * (a.high(q, c, 1) - here)};
}

FN Slopes fifth_order(In q, Index c, const Line& a) {
  const real q3 = a.low(q, c, 3), q2 = a.low(q, c, 2), q1 = a.low(q, c, 1), here = q[c];
  const real p1 = a.high(q, c, 1), p2 = a.high(q, c, 2), p3 = a.high(q, c, 3);
  const real d0 = a.inverse * (q2 - q3), d1 = a.inverse * (q1 - q2), d2 = a.inverse * (here - q1);
  const real d3 = a.inverse * (p1 - here), d4 = a.inverse * (p2 - p1), d5 = a.inverse * (p3 - p2);
  return {weno(d0, d1, d2, d3, d4), weno(d5, d4, d3, d2, d1)};
}
