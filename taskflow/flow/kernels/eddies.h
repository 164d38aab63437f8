// Eddy viscosities from a velocity gradient, of[a][m] = du_a / dx_m.

struct Gradient {
  real of[3][3];
};

FN real square(real a) { return a * a; }

// 2 S_ij S_ij, S being the symmetric part
FN real strain(const Gradient& gradient) {
  const auto& g = gradient.of;
  return 2 * (square(g[0][0]) + square(g[1][1]) + square(g[2][2])) + square(g[0][1] + g[1][0]) +
         square(g[0][2] + g[2][0]) + square(g[1][2] + g[2][1]);
}

// mixing |S|
FN real strained(real mixing, const Gradient& g) { return mixing * root(strain(g)); }

// mixing b^6 / (a^5 + b^5) = mixing b / (1 + (a / b)^5), a = (S_ij S_ij)^(1/2), b = (Sd_ij Sd_ij)^(1/4), Sd being the
// traceless symmetric part of the square of the gradient. a^2 and b^2 are found 2^12 times as large: in single precision no power
// of gradients from 1e-9 to 1e7 is too small or too large, but where the value is 0; there a / b is taken for less than it is.
FN real adapting(real mixing, const Gradient& gradient) {
  const auto& g = gradient.of;
  const real p = g[0][1] * g[1][0], q = g[0][2] * g[2][0], r = g[1][2] * g[2][1];
  const real x = square(g[0][0]) + p + q, y = square(g[1][1]) + p + r, z = square(g[2][2]) + q + r;
  const real third = (x + y + z) * real(1.0 / 3);
  const real xy = (g[0][0] + g[1][1]) * (g[0][1] + g[1][0]) + g[0][2] * g[2][1] + g[1][2] * g[2][0];
  const real xz = (g[0][0] + g[2][2]) * (g[0][2] + g[2][0]) + g[0][1] * g[1][2] + g[2][1] * g[1][0];
  const real yz = (g[1][1] + g[2][2]) * (g[1][2] + g[2][1]) + g[1][0] * g[0][2] + g[2][0] * g[0][1];
  const real turned = square(x - third) + square(y - third) + square(z - third) +
                      real(0.5) * (square(xy) + square(xz) + square(yz));
  const real a_square = real(0x1p11) * strain(gradient), b_square = root(real(0x1p24) * turned);
  const real ratio = a_square * reciprocal(larger(b_square, larger(a_square * real(0x1p-40), real(LEAST))));
  return mixing * real(0x1p-6) * root(b_square) * reciprocal(1 + square(ratio) * root(ratio));
}

// The sum of the squares of the minors of a matrix in its columns m and m + 1
FN real minors(const Gradient& gradient, int m) {
  const auto& g = gradient.of;
  const int n = m == 2 ? 0 : m + 1;
  real sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = i == 2 ? 0 : i + 1;
    sum += square(g[i][m] * g[j][n] - g[j][m] * g[i][n]);
  }
  return sum;
}
FN real squares(const Gradient& g) {
  real sum = 0;
  for (int m = 0; m < 3; ++m)
    for (int i = 0; i < 3; ++i) sum += square(g.of[i][m]);
  return sum;
}
// constant (B / (alpha_ij alpha_ij))^(1/2)
FN real vanishing(real constant, real B, const Gradient& alpha) {
  return constant * root(B * reciprocal(larger(squares(alpha), real(LEAST))));
}
