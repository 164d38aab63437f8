// The velocity gradient in the middle of a cell: of[a][m] = du_a / dx_m.
struct Gradient {
  real of[3][3];
};

// The derivative along `step` of q, which lives on the faces across `own`: the mean of those on both faces of the cell.
FN real beside(In q, Index c, Index own, Index step, real inverse) {
  return real(0.25) * inverse * ((q[c + step] + q[c + step + own]) - (q[c - step] + q[c - step + own]));
}

FN Gradient gradient(In u, In v, In w, Index c, Index X, Index Y, Index Z, const Grid& grid) {
  const real x = grid.inverse[0], y = grid.inverse[1], z = grid.inverse[2];
  return {{{x * (u[c + X] - u[c]), beside(u, c, X, Y, y), beside(u, c, X, Z, z)},
           {beside(v, c, Y, X, x), y * (v[c + Y] - v[c]), beside(v, c, Y, Z, z)},
           {beside(w, c, Z, X, x), beside(w, c, Z, Y, y), z * (w[c + Z] - w[c])}}};
}

FN real square(real a) { return a * a; }

// 2 S_ij S_ij, S being the symmetric part
FN real strain(const Gradient& gradient) {
  const auto& g = gradient.of;
  return 2 * (square(g[0][0]) + square(g[1][1]) + square(g[2][2])) + square(g[0][1] + g[1][0]) +
         square(g[0][2] + g[2][0]) + square(g[1][2] + g[2][1]);
}
