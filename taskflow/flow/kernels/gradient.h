// The velocity gradient in the middle of a cell: of[a][m] = du_a / dx_m.
#include "metrics.h"

struct Gradient {
  real of[3][3];
};

// What a cell has on its faces, and cells below and above use, too: u and v across x and y, low and high, and their sums;
// across z, on the low face alone, w and its differences along x and y, over two cells.
struct Faces {
  real u_low, u_high, u, v_low, v_high, v;
  real w, w_x, w_y;
};

FN Faces faces(In u, In v, In w, Index c, Index X, Index Y) {
  const real u_low = u[c], u_high = u[c + X], v_low = v[c], v_high = v[c + Y];
  return {u_low, u_high, u_low + u_high, v_low, v_high, v_low + v_high,
          w[c], w[c + X] - w[c - X], w[c + Y] - w[c - Y]};
}

// Twice the mean on both faces of a cell across `own` of the difference of q, which lives there, over two cells along `step`.
FN real beside(In q, Index c, Index own, Index step) {
  return (q[c + step] + q[c + step + own]) - (q[c - step] + q[c - step + own]);
}

FN Gradient gradient(In u, In v, Index c, const Faces& below, const Faces& here, const Faces& above, Axis x, Axis y, Axis z) {
  const real half_x = real(0.5) * x.per_two_cells(), half_y = real(0.5) * y.per_two_cells();
  const real half_z = real(0.5) * z.per_two_cells();
  const Index X = x.step, Y = y.step;
  return {{{x.per_cell() * (here.u_high - here.u_low), half_y * beside(u, c, X, Y), half_z * (above.u - below.u)},
           {half_x * beside(v, c, Y, X), y.per_cell() * (here.v_high - here.v_low), half_z * (above.v - below.v)},
           {half_x * (here.w_x + above.w_x), half_y * (here.w_y + above.w_y), z.per_cell() * (above.w - here.w)}}};
}

FN real square(real a) { return a * a; }

// 2 S_ij S_ij, S being the symmetric part
FN real strain(const Gradient& gradient) {
  const auto& g = gradient.of;
  return 2 * (square(g[0][0]) + square(g[1][1]) + square(g[2][2])) + square(g[0][1] + g[1][0]) +
         square(g[0][2] + g[2][0]) + square(g[1][2] + g[2][1]);
}
