// Block ILU(0) of the matrix, which on seven points changes its diagonal alone, and the two triangular solves with it:
// M = (D - L) D^-1 (D - U), where D = pivot - sum over earlier neighbours of A(here, there) D(there)^-1 A(there, here).
#include "cell.h"

constexpr double WORST = 1e12;  // ratio of the largest pivot of an inverse to the least

struct Block {
  real of[16];
};
// One row from another
template <int ROW>
FN void eliminate(Block& a, Block& b, const real (&row)[4], const real (&other)[4], int pivot) {
  const real f = a.of[4 * ROW + pivot];
  if (ROW == pivot) return;
  for (int n = 0; n < 4; ++n) a.of[4 * ROW + n] -= f * row[n], b.of[4 * ROW + n] -= f * other[n];
}
// The inverse, by Gauss and Jordan with partial pivoting; where pivots differ by more than WORST infinity in its first place
FN Block inverse(Block a) {
  Block b{};
  for (int n = 0; n < 4; ++n) b.of[5 * n] = 1;
  real least = 0, most = 0;
  for (int p = 0; p < 4; ++p) {
    int best = p;
    for (int n = p + 1; n < 4; ++n) best = magnitude(a.of[4 * n + p]) > magnitude(a.of[4 * best + p]) ? n : best;
    real row[4], other[4];
    for (int n = 0; n < 4; ++n) {
      row[n] = a.of[4 * best + n], other[n] = b.of[4 * best + n];
      a.of[4 * best + n] = a.of[4 * p + n], b.of[4 * best + n] = b.of[4 * p + n];
    }
    const real size = magnitude(row[p]), scale = 1 / row[p];
    most = size > most ? size : most, least = p == 0 || size < least ? size : least;
    for (int n = 0; n < 4; ++n) a.of[4 * p + n] = row[n] *= scale, b.of[4 * p + n] = other[n] *= scale;
    eliminate<0>(a, b, row, other, p), eliminate<1>(a, b, row, other, p);
    eliminate<2>(a, b, row, other, p), eliminate<3>(a, b, row, other, p);
  }
  if (!(double(most) < WORST * double(least))) b.of[0] = real(INFINITE);
  return b;
}

TASK invert(Range range, InValues<96> coupling, InOutValues<16> pivot, Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) {
    Block d;
    for (int n = 0; n < 16; ++n) d.of[n] = pivot(c, n);
    for (int side = 0; side < 6; ++side) {
      if (!earlier(c, side)) continue;
      const int x = along(side, 0), y = along(side, 1), z = along(side, 2), here = 16 * side, there = 16 * (side ^ 1);
      Block m;
      for (int r = 0; r < 4; ++r) {
        for (int n = 0; n < 4; ++n) {
          real sum = 0;
          for (int k = 0; k < 4; ++k) sum += pivot(c, 4 * r + k, x, y, z) * coupling(c, there + 4 * k + n, x, y, z);
          m.of[4 * r + n] = sum;
        }
      }
      for (int r = 0; r < 4; ++r)
        for (int n = 0; n < 4; ++n)
          for (int k = 0; k < 4; ++k) d.of[4 * r + n] -= coupling(c, here + 4 * r + k) * m.of[4 * k + n];
    }
    const Block b = inverse(d);
    for (int n = 0; n < 16; ++n) pivot(c, n) = b.of[n];
  });
}

// The first cell, numbered so, whose inverse is none
TASK unsound(Range range, InValues<16> pivot, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(pivot(c, 0)) < real(INFINITE) ? INFINITE : number;
  });
}

// a - (or plus) what earlier neighbours bring
FN void take(real (&a)[4], const InValues<96>& coupling, const SweptCell& c, In p, In u, In v, In w, const Range& range) {
  for (int side = 0; side < 6; ++side) {
    if (!earlier(c, side)) continue;
    const Index there = c + beyond(range, side);
    const real z[4] = {p[there], u[there], v[there], w[there]};
    for (int r = 0; r < 4; ++r)
      for (int n = 0; n < 4; ++n) a[r] -= coupling(c, 16 * side + 4 * r + n) * z[n];
  }
}
FN real row(const InValues<16>& pivot, const Cell& c, int r, const real (&a)[4]) {
  return (pivot(c, 4 * r) * a[0] + pivot(c, 4 * r + 1) * a[1]) + (pivot(c, 4 * r + 2) * a[2] + pivot(c, 4 * r + 3) * a[3]);
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InValues<96> coupling, InValues<16> pivot, InOut p, InOut u, InOut v, InOut w,
             Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) {
    real a[4] = {p_r[c], u_r[c], v_r[c], w_r[c]};
    take(a, coupling, c, p, u, v, w, range);
    p[c] = row(pivot, c, 0, a), u[c] = row(pivot, c, 1, a), v[c] = row(pivot, c, 2, a), w[c] = row(pivot, c, 3, a);
  });
}

TASK backward(Range range, InValues<96> coupling, InValues<16> pivot, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_cells(range, sweep, DOWN, CELL(c) {
    real a[4] = {};
    take(a, coupling, c, p, u, v, w, range);
    p[c] += row(pivot, c, 0, a), u[c] += row(pivot, c, 1, a), v[c] += row(pivot, c, 2, a), w[c] += row(pivot, c, 3, a);
  });
}
