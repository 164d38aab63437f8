// The curvature of the interface from heights of columns of seven cells.
#include "plane.h"

// A column along an axis through a cell, whose n-th cell away from phase 1 is `at(n)`
struct CellColumn {
  In f;
  Index c;
  Line along;
  bool up;
  INLINE real at(int n) const {
    const int steps = up ? n : -n;
    return f[c + (steps < 0 ? along.low(-steps) : steps > 0 ? along.high(steps) : 0)];
  }
};

// How high phase 1 reaches above the middle of cell 0, in cells, between the full and the empty cell next to the interface;
// `known` becomes false where one of them is more than three cells away.
FN real height(const CellColumn& column, bool& known) {
  real total = 0;
  int bottom = 0, top = 0;
  real value = column.at(0);
  const bool full = value > 1 - FULL, empty = value < FULL;
  if (!full & !empty) total = value;
  bool ends = full;
  for (int n = 1; n <= 3 && !ends; ++n) {
    value = column.at(-n), bottom = -n, ends = value > 1 - FULL;
    if (!ends && value >= FULL) total += value;
  }
  known &= ends;
  ends = empty;
  for (int n = 1; n <= 3 && !ends; ++n) {
    value = column.at(n), top = n, ends = value < FULL;
    if (!ends && full & (total == 0) & (value > 1 - FULL)) bottom = n;
    else if (!ends) total += value;
  }
  known &= ends & (top > bottom);
  return bottom + real(0.5) + total;
}

// The lines of a cell `n` cells along another one
FN Index beside(Index c, const Line& a, int n) { return c + (n < 0 ? a.low(1) : n > 0 ? a.high(1) : 0); }

// -div of the upward normal of a surface z = h(x, y) from its derivatives
FN real bent_down(real x, real y, real xx, real yy, real xy) {
  const real size = 1 + x * x + y * y;
  return -(xx * (1 + y * y) + yy * (1 + x * x) - 2 * xy * x * y) / (size * sqrt(size));
}

// kappa from nine heights along an axis, phase 1 being below if `up`; second derivatives take adjacent columns with the
// weight 0.2, against waves from column to column.
RARE_FN real bent_by_heights(In f, Index c, const Line& a, const Line& b, const Line& d, bool up, bool& known) {
  real h[3][3];
  known = true;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) h[j + 1][i + 1] = height({f, beside(beside(c, b, i), d, j), a, up}, known);
  known &= magnitude(h[1][1]) <= real(1.5);
  const real across_b = b.inverse / a.inverse, across_d = d.inverse / a.inverse, weight = real(0.2);
  const real x = real(0.5) * across_b * (h[1][2] - h[1][0]), y = real(0.5) * across_d * (h[2][1] - h[0][1]);
  const auto second_x = [&](int j) { return h[j][0] - 2 * h[j][1] + h[j][2]; };
  const auto second_y = [&](int i) { return h[0][i] - 2 * h[1][i] + h[2][i]; };
  const real once = 1 / (1 + 2 * weight);
  const real xx = across_b * b.inverse * once * (second_x(1) + weight * (second_x(0) + second_x(2)));
  const real yy = across_d * d.inverse * once * (second_y(1) + weight * (second_y(0) + second_y(2)));
  const real xy = real(0.25) * across_b * d.inverse * ((h[2][2] - h[2][0]) - (h[0][2] - h[0][0]));
  return bent_down(x, y, xx, yy, xy);
}
