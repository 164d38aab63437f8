// The velocity gradient in the middle of a cell: of[a][m] = du_a / dx_m.
#include "metrics.h"

struct Gradient {
  real of[3][3];
};

// The derivative along `a` of q, which lives on the faces across it.
FN real within(In q, Index c, Axis a) { return a.per_cell() * (q[c + a.step] - q[c]); }

// The derivative along `b` of q, which lives on the faces across `a`: the mean of those on both faces of the cell.
FN real beside(In q, Index c, Axis a, Axis b) {
  const Index A = a.step, B = b.step;
  return real(0.5) * b.per_two_cells() * ((q[c + B] + q[c + B + A]) - (q[c - B] + q[c - B + A]));
}

FN Gradient gradient(In u, In v, In w, Cell c, Index X, Index Y, Index Z, const Grid& grid) {
  const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
  return {{{within(u, c, x), beside(u, c, x, y), beside(u, c, x, z)},
           {beside(v, c, y, x), within(v, c, y), beside(v, c, y, z)},
           {beside(w, c, z, x), beside(w, c, z, y), within(w, c, z)}}};
}

FN real square(real a) { return a * a; }

// 2 S_ij S_ij, S being the symmetric part
FN real strain(const Gradient& gradient) {
  const auto& g = gradient.of;
  return 2 * (square(g[0][0]) + square(g[1][1]) + square(g[2][2])) + square(g[0][1] + g[1][0]) +
         square(g[0][2] + g[2][0]) + square(g[1][2] + g[2][1]);
}
