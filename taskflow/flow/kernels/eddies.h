// A velocity gradient, of[a][m] = du_a / dx_m, and its invariants.

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
// The sum of the squares of all components
FN real squares(const Gradient& g) {
  real sum = 0;
  for (int m = 0; m < 3; ++m)
    for (int i = 0; i < 3; ++i) sum += square(g.of[i][m]);
  return sum;
}
