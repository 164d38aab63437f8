// The modes of a spectrum: planes of complex numbers (two values along x each), the real two-dimensional FFT of planes in
// the order of `to_dct_order`. Modes are separated before an operator is applied, and joined again after it:
//
// periodic x and y:  real and imaginary part belong to the mode (a, b)
// else four numbers, of the rows b and -b: for a wall along y the cosine coefficients b and n - b, else the transforms
// along y of the two real coefficients a and n - a that share one complex number for a wall along x
//
// (Makhoul 1980: a cosine transform is an FFT of the even cells, then the odd ones backward, and a rotation.)
#include "lines.h"

// -(eigenvalue) of the second difference along an axis for the mode `m`: 4 sin^2 of half its angle
FN double eigenvalue(const Spectrum& s, int axis, int m) {
  const int n = s.extended[axis], low = s.low_end[axis], high = s.high_end[axis];
  const bool periodic = !low;
  const int k = periodic ? (2 * m < n ? m : n - m) : low < 0 && high < 0 ? n - m : m;
  const double sine = SINE(double(k) / (periodic ? n : 2 * n));
  return 4 * sine * sine;
}

// kappa of the equation x_(k-1) - (2 + kappa) x_k + x_(k+1) = ... of the mode (a, b)
FN double stiffness(const Spectrum& s, int a, int b) {
  return s.stretch[0] * eigenvalue(s, 0, a) + s.stretch[1] * eigenvalue(s, 1, b);
}

// w = 1 - lambda, lambda being the root in (0, 1] of lambda + 1 / lambda = 2 + kappa; exact to rounding near 0, too
template <class V>
FN V decay_of(V kappa) { return 2.0 / (1.0 + roots<V>(1.0 + 4.0 / kappa)); }

// Values of one field at the position (x, y) in plane k.
struct Planes {
  real* q;
  Index y, z;
  INLINE real* at(int i, int j, int k) const { return q + i + j * y + k * z; }
};

// WIDTH adjacent values of a row, with x and y periodic.
template <class V>
struct PlainModes {
  static constexpr int N = 1;
  int i, j;
  V stiff[N], decay[N];

  INLINE PlainModes(const Spectrum& s, int i, int j)
      : i(i), j(j), stiff{each<V>([&](int l) { return stiffness(s, (i + l) / 2, j); })}, decay{decay_of<V>(stiff[0])} {}
  INLINE void load(const Planes& p, int k, V (&v)[N]) const { v[0] = fetch<V>(p.at(i, j, k), 1); }
  INLINE void store(const Planes& p, int k, const V (&v)[N]) const { put<V>(p.at(i, j, k), 1, v[0]); }
  // Numbers that belong to modes themselves
  INLINE void load_own(const Planes& p, int k, V (&v)[N]) const { load(p, k, v); }
  INLINE void store_own(const Planes& p, int k, const V (&v)[N]) const { store(p, k, v); }
};

// WIDTH adjacent complex numbers, and the same of the row -j.
template <class V>
struct CosineModes {
  static constexpr int N = 4;
  int a, j, mirror;
  bool cosine;       // along y
  V cx, sx, cy, sy;  // rotations exp(-i pi a / 2n) of a cosine transform; none: 1
  V stiff[N], decay[N];

  INLINE CosineModes(const Spectrum& s, int a, int j)
      : a(a), j(j), mirror(j ? s.extended[1] - j : 0), cosine(s.low_end[1]), cy(V() + 1.0), sy(V()) {
    const int nx = s.extended[0], ny = s.extended[1];
    const double turn = s.low_end[0] ? 1.0 / (2 * nx) : 0, row = cosine ? double(j) / (2 * ny) : 0;
    cx = each<V>([&](int l) { return COSINE(turn * (a + l)); });
    sx = each<V>([&](int l) { return SINE(turn * (a + l)); });
    cy = cy * COSINE(row);
    sy = sy + SINE(row);
    for (int n = 0; n < N; ++n) {
      const bool second = cosine ? n % 2 : n / 2;  // the coefficient n - a
      const int b = cosine && n > 1 ? ny - j : j;
      stiff[n] = each<V>([&](int l) { return stiffness(s, s.low_end[0] && second ? nx - a - l : a + l, b); });
      decay[n] = decay_of<V>(stiff[n]);
    }
  }

  INLINE void load(const Planes& p, int k, V (&v)[N]) const {
    const real *one = p.at(2 * a, j, k), *two = p.at(2 * a, mirror, k);
    V pr = fetch<V>(one, 2), pi = fetch<V>(one + 1, 2), qr = fetch<V>(two, 2), qi = fetch<V>(two + 1, 2);
    turn(pr, pi, cx, sx);
    turn(qr, qi, cx, sx);
    if (cosine) {
      turn(pr, pi, cy, sy);
      turn(qr, qi, cy, -sy);
      v[0] = pr + qr, v[1] = pi + qi;  // P + Q
      v[2] = qi - pi, v[3] = pr - qr;  // i (P - Q)
    } else {
      v[0] = 0.5 * (pr + qr), v[1] = 0.5 * (pi - qi);  // (P + Q*) / 2
      v[2] = 0.5 * (pi + qi), v[3] = 0.5 * (qr - pr);  // (P - Q*) / 2i
    }
  }

  INLINE void store(const Planes& p, int k, const V (&v)[N]) const {
    V pr, pi, qr, qi;
    if (cosine) {
      pr = 0.5 * (v[0] + v[3]), pi = 0.5 * (v[1] - v[2]);
      qr = 0.5 * (v[0] - v[3]), qi = 0.5 * (v[1] + v[2]);
      turn(pr, pi, cy, -sy);
      turn(qr, qi, cy, sy);
    } else {
      pr = v[0] - v[3], pi = v[1] + v[2];
      qr = v[0] + v[3], qi = v[2] - v[1];
    }
    turn(pr, pi, cx, -sx);
    turn(qr, qi, cx, -sx);
    real *one = p.at(2 * a, j, k), *two = p.at(2 * a, mirror, k);
    put<V>(one, 2, pr), put<V>(one + 1, 2, pi);
    put<V>(two, 2, qr), put<V>(two + 1, 2, qi);
  }

  // Numbers that belong to modes themselves: four where the modes are, else two, as the modes 0 and 1, and 2 and 3, are
  // parts of one. Where both rows are one, the first two count.
  INLINE void load_own(const Planes& p, int k, V (&v)[N]) const {
    const real *one = p.at(2 * a, j, k), *two = p.at(2 * a, mirror, k);
    v[0] = fetch<V>(one, 2), v[1] = cosine ? fetch<V>(one + 1, 2) : v[0];
    v[2] = fetch<V>(cosine ? two : one + 1, 2), v[3] = cosine ? fetch<V>(two + 1, 2) : v[2];
  }
  INLINE void store_own(const Planes& p, int k, const V (&v)[N]) const {
    real *one = p.at(2 * a, j, k), *two = p.at(2 * a, mirror, k);
    put<V>(two, 2, cosine ? v[2] : v[0]), put<V>(two + 1, 2, cosine ? v[3] : v[2]);
    put<V>(one, 2, v[0]), put<V>(one + 1, 2, cosine ? v[1] : v[2]);
  }

  // (r + i m) (c - i s)
  static INLINE void turn(V& r, V& m, V c, V s) {
    const V real_part = r * c + m * s;
    m = m * c - r * s;
    r = real_part;
  }
};
