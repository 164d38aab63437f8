// Block ILU(0) of the matrix, which on seven points changes its diagonal alone:
// M = (D - L) D^-1 (D - U), where D = pivot - sum over earlier neighbours of A(here, there) D(there)^-1 A(there, here).
#include "cell.h"
#include "../pace.h"
#include "../viscous.h"
#include "matrix.h"
#include "factors.h"

constexpr double WORST = 1e12;  // ratio of the largest pivot of an inverse to the least

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
  for (int r = 0; r < 4; ++r) {
    for (int k = 0; k < 4; ++k) {
      real sum = 0;
      for (int l = 0; l < 4; ++l) sum += pivot(c, 4 * r + l, x, y, z) * back.of[4 * l + k];
      m.of[4 * r + k] = sum;
    }
  }
  for (int r = 0; r < 4; ++r)
    for (int k = 0; k < 4; ++k)
      for (int l = 0; l < 4; ++l) d.of[4 * r + k] -= coupling(c, block_of(SIDE) + 4 * r + l) * m.of[4 * l + k];
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
