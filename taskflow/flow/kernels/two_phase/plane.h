// The interface in a cell: a plane m . x = alpha, x from 0 to 1 in each direction, phase 1 where m . x is less.
#include "neighbours.h"

// Cells with a smaller share of a phase carry no plane.
constexpr real EDGE = sizeof(real) == 4 ? real(1e-6) : real(1e-12);
FN bool is_cut(real f) { return (f > EDGE) & (f < 1 - EDGE); }
// What full cells may lack, and empty ones have, by the divergence that a solver leaves: more than that is an interface
constexpr real FULL = real(1e-6);
FN bool is_bent(real f) { return (f > FULL) & (f < 1 - FULL); }

// A normal out of phase 1, with magnitudes that sum to 1; or 0 where the shares around are even
struct Normal {
  real x, y, z;
};
FN real steepness(const Normal& m) { return magnitude(m.x) + magnitude(m.y) + magnitude(m.z); }
FN Normal scaled(const Normal& m) {
  const real sum = steepness(m), once = sum > 0 ? 1 / sum : real(0);
  return {once * m.x, once * m.y, once * m.z};
}
FN real longest(const Normal& m) { return max(max(magnitude(m.x), magnitude(m.y)), magnitude(m.z)); }

// The mixed Youngs-centred normal (E. Aulisa, S. Manservisi, R. Scardovelli, S. Zaleski 2007, J. Comput. Phys. 225, 2301) in units
// of cells. One candidate per direction has slopes of the heights of columns along it; that with the largest component along
// its own direction stands against Youngs' gradient, and the one with the smaller largest component is taken.
FN Normal normal(In f, Index c, const Lines& a) {
  real g[3][3][3];  // [z][y][x]
  for (int n = 0; n < 27; ++n) {
    const int i = n % 3, j = n / 3 % 3, k = n / 9;
    const Index x = i == 0 ? a.x.low(1) : i == 2 ? a.x.high(1) : 0, y = j == 0 ? a.y.low(1) : j == 2 ? a.y.high(1) : 0;
    const Index z = k == 0 ? a.z.low(1) : k == 2 ? a.z.high(1) : 0;
    g[k][j][i] = f[c + x + y + z];
  }
  const auto along_x = [&](int j, int k) { return g[k][j][0] + g[k][j][1] + g[k][j][2]; };
  const auto along_y = [&](int i, int k) { return g[k][0][i] + g[k][1][i] + g[k][2][i]; };
  const auto along_z = [&](int i, int j) { return g[0][j][i] + g[1][j][i] + g[2][j][i]; };
  const auto weighted = [](real low, real mid, real high) { return low + 2 * mid + high; };
  const auto plane_x = [&](int i) {
    return weighted(weighted(g[0][0][i], g[0][1][i], g[0][2][i]), weighted(g[1][0][i], g[1][1][i], g[1][2][i]),
                    weighted(g[2][0][i], g[2][1][i], g[2][2][i]));
  };
  const auto plane_y = [&](int j) {
    return weighted(weighted(g[0][j][0], g[0][j][1], g[0][j][2]), weighted(g[1][j][0], g[1][j][1], g[1][j][2]),
                    weighted(g[2][j][0], g[2][j][1], g[2][j][2]));
  };
  const auto plane_z = [&](int k) {
    return weighted(weighted(g[k][0][0], g[k][0][1], g[k][0][2]), weighted(g[k][1][0], g[k][1][1], g[k][1][2]),
                    weighted(g[k][2][0], g[k][2][1], g[k][2][2]));
  };
  const Normal youngs = scaled({plane_x(0) - plane_x(2), plane_y(0) - plane_y(2), plane_z(0) - plane_z(2)});
  const real half = real(0.5);
  const auto sign = [](real a) { return a < 0 ? real(-1) : real(1); };
  const Normal x = {sign(youngs.x), half * (along_x(0, 1) - along_x(2, 1)), half * (along_x(1, 0) - along_x(1, 2))};
  const Normal y = {half * (along_y(0, 1) - along_y(2, 1)), sign(youngs.y), half * (along_y(1, 0) - along_y(1, 2))};
  const Normal z = {half * (along_z(0, 1) - along_z(2, 1)), half * (along_z(1, 0) - along_z(1, 2)), sign(youngs.z)};
  const real sx = steepness(x), sy = steepness(y), sz = steepness(z);
  const Normal centred = (sx <= sy) & (sx <= sz) ? scaled(x) : sy <= sz ? scaled(y) : scaled(z);
  const bool even = steepness(youngs) == 0;
  return even | (longest(centred) > longest(youngs)) ? youngs : centred;
}

// The magnitudes of a normal in order, which sum to 1
struct Ordered {
  real least, middle, most;
};
FN Ordered ordered(real a, real b, real c) {
  const real low = min(a, b), high = max(a, b);
  return {min(low, c), max(low, min(high, c)), max(high, c)};
}

// (x^3 - (x - least)^3) / least, each where positive, and its derivative, without a difference of large numbers
FN real piece(const Ordered& m, real x) {
  return x <= 0 ? real(0) : x < m.least ? x * x * (x / m.least) : 3 * x * (x - m.least) + m.least * m.least;
}
FN real piece_slope(const Ordered& m, real x) {
  return x <= 0 ? real(0) : x < m.least ? 3 * x * (x / m.least) : 6 * x - 3 * m.least;
}

// The share of a cell below a plane, and the plane below which it has a share (R. Scardovelli, S. Zaleski 2000, J. Comput. Phys.
// 164, 228), counted from the corner where m . x is least; both symmetric about a half
FN real share_below(const Ordered& m, real alpha) {
  const real a = min(alpha, 1 - alpha), both = m.least + m.middle;
  if (a <= 0) return alpha > real(0.5) ? real(1) : real(0);
  const real part = a >= both ? (2 * a - both) / (2 * m.most)
                              : (piece(m, a) - piece(m, a - m.middle) - piece(m, a - m.most)) / (6 * m.middle * m.most);
  return alpha > real(0.5) ? 1 - part : part;
}

// The derivative of share_below by alpha: the area of the plane over the length of m
FN real slope_below(const Ordered& m, real alpha) {
  const real a = min(alpha, 1 - alpha), both = m.least + m.middle;
  if (a <= 0) return 0;
  return a >= both ? 1 / m.most
                   : (piece_slope(m, a) - piece_slope(m, a - m.middle) - piece_slope(m, a - m.most)) / (6 * m.middle * m.most);
}

// By elementary operations: from an exponent over three, and Newton's iteration
FN real cube_root(real a) {
  if (!(a > 0)) return 0;
  real x = sizeof(real) == 4 ? real(number_of(unsigned(bits_of(float(a)) / 3 + 0x2a514067u)))
                             : real(number_of((unsigned long long)(bits_of(double(a)) / 3 + 0x2a9f789300000000ull)));
  for (int n = 0; n < 4; ++n) x = (2 * x + a / (x * x)) * real(1.0 / 3);
  return x;
}

FN real plane_of(const Ordered& m, real f) {
  const real part = min(f, 1 - f), both = m.least + m.middle;
  real alpha;
  if (part * (2 * m.most) >= both) {
    alpha = part * m.most + real(0.5) * both;
  } else {
    const real volume = part * (6 * m.middle * m.most), corner = m.least * m.least;
    if (volume < corner) {
      alpha = cube_root(volume * m.least);
    } else {
      alpha = real(0.5) * m.least + sqrt(12 * volume - 3 * corner) * real(1.0 / 6);
      const real top = min(both, real(0.5));
      if (alpha > m.middle) {  // the curve bends up: Newton's iteration comes from above, after its first step
        for (int n = 0; n < 7; ++n) {
          const real rest = piece(m, alpha) - piece(m, alpha - m.middle) - piece(m, alpha - m.most) - volume;
          const real slope = piece_slope(m, alpha) - piece_slope(m, alpha - m.middle) - piece_slope(m, alpha - m.most);
          alpha = min(max(alpha - rest / slope, m.middle), top);
        }
      }
    }
  }
  return f > real(0.5) ? 1 - alpha : alpha;
}

// The share of phase 1 in the slab of thickness c at the low or high side of a cell along the direction of the component m
FN real share_of_slab(real f, real m, real other, real third, real c, bool high) {
  const real along = magnitude(m), r = magnitude(other), s = magnitude(third);
  const real alpha = plane_of(ordered(along, r, s), f);
  const bool far = high == (m > 0);  // away from the corner where m . x is least
  const real sum = along * c + r + s, once = 1 / sum;
  return share_below(ordered(once * (along * c), once * r, once * s), once * (far ? alpha - along * (1 - c) : alpha));
}
