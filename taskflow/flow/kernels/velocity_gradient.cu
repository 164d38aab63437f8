// Fields that follow from the velocity gradient at the centre of a cell; 0 in bodies.
#define UZ 1
#include "cell.h"
#include "flags.h"
#include "gradient.h"
#include "beside.h"

template <class Around>
FN Gradient gradient_at(In u, In v, In w, const Grid& grid, const Cell& c, Index X, Index Y, Index Z, const Around& around) {
  const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
  const Faces below = faces(u, v, w, c - Z, X, Y), here = faces(u, v, w, c, X, Y), above = faces(u, v, w, c + Z, X, Y);
  return gradient(u, v, c, below, here, above, x, y, z, around);
}

// Q = -(du_i/dx_j) (du_j/dx_i) / 2
TASK q_criterion(Range range, In u, In v, In w OPTIONAL(solid), Out Q, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const auto around = neighbours(flags_of(solid, c));
    const Gradient gradients = gradient_at(u, v, w, grid, c, X, Y, Z, around);
    const auto& g = gradients.of;
    const real squares = square(g[0][0]) + square(g[1][1]) + square(g[2][2]);
    const real known = real(-0.5) * squares - (g[0][1] * g[1][0] + g[1][2] * g[2][1] + g[2][0] * g[0][2]);
    Q[c] = around.solid() ? real(0) : known;
  });
}

// The component of the curl along a direction; without one its magnitude
FN real along(real a, real b, real c, Direction way) { return way.x * a + way.y * b + way.z * c; }
FN real along(real a, real b, real c, None) { return sqrt(square(a) + square(b) + square(c)); }

TASK vorticity(Range range, In u, In v, In w OPTIONAL(solid), Out value, Grid grid OPTIONAL(way)) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const auto around = neighbours(flags_of(solid, c));
    const Gradient gradients = gradient_at(u, v, w, grid, c, X, Y, Z, around);
    const auto& g = gradients.of;
    const real known = along(g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1], way);
    value[c] = around.solid() ? real(0) : known;
  });
}

// One rotation of C. G. J. Jacobi 1846, J. Reine Angew. Math. 30, 51: m[p][q] of a symmetric matrix becomes 0
FN void rotate(real (&m)[3][3], int p, int q) {
  const int r = 3 - p - q;
  const real off = m[p][q], apart = m[q][q] - m[p][p];
  const real sum = abs(apart) + sqrt(square(apart) + 4 * square(off));
  const real t = sum == 0 ? real(0) : (apart < 0 ? real(-2) : real(2)) * off / sum;
  const real c = 1 / sqrt(square(t) + 1), s = t * c;
  const real rp = m[r][p], rq = m[r][q];
  m[p][p] -= t * off;
  m[q][q] += t * off;
  m[p][q] = m[q][p] = 0;
  m[r][p] = m[p][r] = c * rp - s * rq;
  m[r][q] = m[q][r] = s * rp + c * rq;
}

// The second eigenvalue of S^2 + W^2, S and W being the symmetric and antisymmetric parts of the gradient
FN real second_eigenvalue(const Gradient& gradient) {
  const auto& g = gradient.of;
  real m[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      real sum = 0;
      for (int n = 0; n < 3; ++n) sum += g[i][n] * g[n][j] + g[j][n] * g[n][i];
      m[i][j] = real(0.5) * sum;
    }
  for (int sweep = 0; sweep < 6; ++sweep) {
    rotate(m, 0, 1);
    rotate(m, 0, 2);
    rotate(m, 1, 2);
  }
  const real low = min(m[0][0], m[1][1]), high = max(m[0][0], m[1][1]);
  return max(low, min(high, m[2][2]));
}

TASK lambda2(Range range, In u, In v, In w OPTIONAL(solid), Out value, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const auto around = neighbours(flags_of(solid, c));
    const real known = second_eigenvalue(gradient_at(u, v, w, grid, c, X, Y, Z, around));
    value[c] = around.solid() ? real(0) : known;
  });
}
