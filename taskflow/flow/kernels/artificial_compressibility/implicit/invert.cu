// Block ILU(0) of the matrix, which on seven points changes its diagonal alone:
// M = (D - L) D^-1 (D - U), where D = pivot - sum over earlier neighbours of A(here, there) D(there)^-1 A(there, here).
#define BX 64
#define BY 1
#include "cell.h"
#include "../pace.h"
#include "../viscous.h"
#include "matrix.h"
#include "factors.h"

constexpr double WORST = 1e12;  // ratio of the largest pivot of an inverse to the least

struct Pivots {
  real least, most;
};
// A step of Gauss and Jordan: column P of `a` becomes that of the unit. The row with its largest number comes to row P by selections:
// an index that is only known then would keep blocks out of a GPU's registers.
template <int P>
FN void eliminate_column(Block& a, Block& b, Pivots& pivots) {
  int best = P;
  real largest = magnitude(a.of[5 * P]);
#pragma unroll
  for (int n = P + 1; n < 4; ++n) {
    const real size = magnitude(a.of[4 * n + P]);
    best = size > largest ? n : best, largest = size > largest ? size : largest;
  }
  real row[4], other[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const real own = row[n] = a.of[4 * P + n], own_other = other[n] = b.of[4 * P + n];
#pragma unroll
    for (int m = P + 1; m < 4; ++m) {
      row[n] = best == m ? a.of[4 * m + n] : row[n], other[n] = best == m ? b.of[4 * m + n] : other[n];
      a.of[4 * m + n] = best == m ? own : a.of[4 * m + n], b.of[4 * m + n] = best == m ? own_other : b.of[4 * m + n];
    }
  }
  const real size = magnitude(row[P]), scale = 1 / row[P];
  pivots.most = size > pivots.most ? size : pivots.most, pivots.least = P == 0 || size < pivots.least ? size : pivots.least;
#pragma unroll
  for (int n = 0; n < 4; ++n) a.of[4 * P + n] = row[n] *= scale, b.of[4 * P + n] = other[n] *= scale;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    if (m == P) continue;
    const real f = a.of[4 * m + P];
#pragma unroll
    for (int n = 0; n < 4; ++n) a.of[4 * m + n] -= f * row[n], b.of[4 * m + n] -= f * other[n];
  }
}
// The inverse, by Gauss and Jordan with partial pivoting; where pivots differ by more than WORST infinity in its first place
FN Block inverse(Block a) {
  Block b{};
  for (int n = 0; n < 4; ++n) b.of[5 * n] = 1;
  Pivots pivots = {0, 0};
  eliminate_column<0>(a, b, pivots), eliminate_column<1>(a, b, pivots), eliminate_column<2>(a, b, pivots), eliminate_column<3>(a, b, pivots);
  if (!(double(pivots.most) < WORST * double(pivots.least))) b.of[0] = real(INFINITE);
  return b;
}

// d - A(here, there) D(there)^-1 A(there, here)
template <int SIDE, class Geometry, class B, class Swept, class Eddies, class Coupling, class Pivot>
FN void eliminate(Block& d, In u, In v, In w, B b, Swept swept, Eddies nu_t, const Geometry& g, const SweptCell& c, const Steps& steps, const Coupling& coupling,
                  const Pivot& pivot, const Numbers& n) {
  if (!earlier(c, SIDE)) return;
  constexpr int x = along(SIDE, 0), y = along(SIDE, 1), z = along(SIDE, 2);
  const auto f = across<SIDE>(g, b, swept, c, steps, n);
  const Index beyond = f.beyond;
  const Block back = coupled({u[beyond], v[beyond], w[beyond]}, {u[c], v[c], w[c]}, real(-1) * f.area, viscosity_on(nu_t, n, c, beyond) * f.conductance, f.b, turned(-1, f.swept));
  Block m;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      real sum = 0;
      for (int l = 0; l < 4; ++l) sum += pivot(c, 4 * r + l, x, y, z) * back.of[4 * l + k];
      m.of[4 * r + k] = sum;
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const auto row = coupling.four(c, block_of(SIDE) + 4 * r);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      for (int l = 0; l < 4; ++l) d.of[4 * r + k] -= row[l] * m.of[4 * l + k];
  }
}

TASK invert(Range range, In u, In v, In w, InPrivate<96, Real_coupling> coupling, InOutValuesOf<16, Real_pivot> pivot OPTIONAL(metrics)
            OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t), Sweep sweep, Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const auto g = geometry(metrics, numbers);
  sweep_cells(range, sweep, UP, CELL(c) {
    Block d;
    for (int n = 0; n < 16; ++n) d.of[n] = pivot(c, n);
    eliminate<0>(d, u, v, w, b, swept, nu_t, g, c, steps, coupling, pivot, numbers), eliminate<1>(d, u, v, w, b, swept, nu_t, g, c, steps, coupling, pivot, numbers);
    eliminate<2>(d, u, v, w, b, swept, nu_t, g, c, steps, coupling, pivot, numbers), eliminate<3>(d, u, v, w, b, swept, nu_t, g, c, steps, coupling, pivot, numbers);
#ifndef PLANAR
    eliminate<4>(d, u, v, w, b, swept, nu_t, g, c, steps, coupling, pivot, numbers), eliminate<5>(d, u, v, w, b, swept, nu_t, g, c, steps, coupling, pivot, numbers);
#endif
    const Block inverted = inverse(d);
    for (int n = 0; n < 16; ++n) pivot(c, n) = inverted.of[n];
  });
}
