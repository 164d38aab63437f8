// nu_t = (C Delta)^2 b^6 / (a^5 + b^5) = (C Delta)^2 b / (1 + (a / b)^5), square being C^2, a = (S_ij S_ij)^(1/2) and
// b = (Sd_ij Sd_ij)^(1/4), Sd being the traceless symmetric part of the square of the gradient. a^2 and b^2 are found 2^12 times
// as large: in single precision no power of gradients from 1e-9 to 1e7 is too small or too large, except where the value is 0.
// There a / b is taken for less than it is.
FN real viscosity(const Closure& model, const Local& q) {
  const auto& g = q.gradient.of;
  const real p0 = g[0][1] * g[1][0], p1 = g[0][2] * g[2][0], p2 = g[1][2] * g[2][1];
  const real x = square(g[0][0]) + p0 + p1, y = square(g[1][1]) + p0 + p2, z = square(g[2][2]) + p1 + p2;
  const real third = (x + y + z) * real(1.0 / 3);
  const real xy = (g[0][0] + g[1][1]) * (g[0][1] + g[1][0]) + g[0][2] * g[2][1] + g[1][2] * g[2][0];
  const real xz = (g[0][0] + g[2][2]) * (g[0][2] + g[2][0]) + g[0][1] * g[1][2] + g[2][1] * g[1][0];
  const real yz = (g[1][1] + g[2][2]) * (g[1][2] + g[2][1]) + g[1][0] * g[0][2] + g[2][0] * g[0][1];
  const real turned = square(x - third) + square(y - third) + square(z - third) +
                      real(0.5) * (square(xy) + square(xz) + square(yz));
  const real a_square = real(0x1p11) * strain(q.gradient), b_square = root(real(0x1p24) * turned);
  const real ratio = a_square * reciprocal(larger(b_square, larger(a_square * real(0x1p-40), real(LEAST))));
  return q.filter_square * model.square * real(0x1p-6) * root(b_square) * reciprocal(1 + square(ratio) * root(ratio));
}
