// The curvature of the interface, in each cell beside it at its foot on the interface.
#define UZ 8
#define RESIDENT 2
#include "cell.h"
#include "../flags.h"
#include "foot.h"

FN real second(In phi, Index c, const Line& a) {
  return a.inverse * a.inverse * (phi[c + a.low(1)] - 2 * phi[c] + phi[c + a.high(1)]);
}
FN real mixed(In phi, Index c, const Line& a, const Line& b) {
  const Index low = c + a.low(1), high = c + a.high(1);
  const real across = (phi[high + b.high(1)] - phi[high + b.low(1)]) - (phi[low + b.high(1)] - phi[low + b.low(1)]);
  return real(0.25) * a.inverse * b.inverse * across;
}

// -div(grad(phi) / |grad(phi)|), at most 1 over the spacing; 0 far from the interface
FN real bent(In phi, const Cell& c, Index X, Index Y, Index Z, const Grid& grid, const Band& band) {
  if (!(magnitude(phi[c]) < band.curvature)) return 0;
  const Lines a = lines(grid, c, X, Y, Z, band);
  const Slope g = gradient(phi, c, a);
  const real size = g.square(), xx = second(phi, c, a.x), yy = second(phi, c, a.y), zz = second(phi, c, a.z);
  const real xy = mixed(phi, c, a.x, a.y), yz = mixed(phi, c, a.y, a.z), zx = mixed(phi, c, a.z, a.x);
  const real along = xx * (g.y * g.y + g.z * g.z) + yy * (g.z * g.z + g.x * g.x) + zz * (g.x * g.x + g.y * g.y);
  const real turned = 2 * (g.x * g.y * xy + g.y * g.z * yz + g.z * g.x * zx);
  const real value = size > 0 ? -(along - turned) / (size * root(size)) : real(0);
  return value > band.most ? band.most : value < -band.most ? -band.most : value;
}

FN int moved(const Line& a, int n) {
  return n < 0 ? -Line::mirrored(-n, a.before, a.behind) : n > 0 ? Line::mirrored(n, a.behind, a.before) : 0;
}

// kappa = that curvature at x - phi grad(phi) / |grad(phi)|^2, linear between the centres of cells; 0 far from the interface. Few
// cells are near: eight curvatures in each of them cost less than a field of curvatures, and its exchange.
TASK curvature_at_foot(Range range, In phi, Out kappa, Grid grid, Band band) {
  STRIDES(range)
  const auto near = CELL(c) { return magnitude(phi[c]) < band.foot; };
  most_cells(range, everywhere(), CELL(c) { return real(0); }, near, CELL(c) {
    real value = 0;
    if (near(c)) {
      const Lines a = lines(grid, c, X, Y, Z, band);
      const Slope to = way(phi[c], gradient(phi, c, a), a);
      const Foot x = foot(to.x, 2), y = foot(to.y, 2), z = foot(to.z, 2);
      for (int n = 0; n < 8; ++n) {
        const int i = n & 1, j = n >> 1 & 1, k = n >> 2;
        const real weight = x.weight(i) * y.weight(j) * z.weight(k);
        const int right = moved(a.x, x.below + i), behind = moved(a.y, y.below + j), above = moved(a.z, z.below + k);
        const Cell other{c.i + right, c.j + behind, c.k + above, c.offset + right * X + behind * Y + above * Z};
        value += weight * bent(phi, other, X, Y, Z, grid, band);
      }
    }
    return value;
  }, STORE(c, value) { kappa[c] = value; });
}

// failed = the number of cells in which the density changes and that get no curvature: too far from the interface, without a
// slope, or more than two cells from their foot along an axis
TASK feet_missed(Range range, In phi OPTIONAL(solid), Partial failed, Grid grid, Band band) {
  STRIDES(range)
  reduce_cells(range, failed, SUM, CELL(c) {
    const real here = phi[c];
    if (magnitude(here) >= band.width || is_solid(solid, c)) return 0.0;
    const Lines a = lines(grid, c, X, Y, Z, band);
    const Slope g = gradient(phi, c, a), to = way(here, g, a);
    const bool reached = magnitude(to.x) <= 2 && magnitude(to.y) <= 2 && magnitude(to.z) <= 2;
    return reached && g.square() > 0 && magnitude(here) < band.foot ? 0.0 : 1.0;
  });
}
