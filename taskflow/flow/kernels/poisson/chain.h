// Gaussian elimination along lines of planes with different heights h_k: for every mode
//
//   c_(k+1) (x_(k+1) - x_k) - c_k (x_k - x_(k-1)) - mu h_k x_k = h_k d_k,    c_k = 1 / distance of centres, or 0 on a wall
//
// Its pivots are c_(k+1) + e_k, with e_k = mu h_k + c_k e_(k-1) / (c_k + e_(k-1)): sums of non-negative numbers,
// without cancellation for any mu. (In a chain of conductances c with leaks mu h at its nodes, e_k is the leak of nodes up to
// k.) With r_k = c_(k+1) / (c_(k+1) + e_k) a plane receives `in` from below, passes on r_k y_k, y_k = in - h_k d_k, and has
// x_k = y_k / (c_(k+1) + e_k) + r_k x_(k+1).
#include "modes.h"
#include "slab.h"

// 1 / pivot of a plane, and r. Only the highest plane can have no leak: its x is then free and taken from above.
template <class V>
struct Pivot {
  V inverse, through;

  INLINE Pivot(const Spectrum& s, int k, V e) {
    const double above = s.conductance[k + 1];
    const V all = above + e;
    inverse = k + 1 < s.cells[2] ? 1.0 / all : each_or(all);
    through = k + 1 < s.cells[2] ? above * inverse : open(all);
  }
  static INLINE V each_or(V all) {
    if constexpr (WIDTH<V> == 1) return all > 0 ? 1.0 / all : 0.0;
    else return each<V>([&](int l) { return all[l] > 0 ? 1.0 / all[l] : 0.0; });
  }
  static INLINE V open(V all) {
    if constexpr (WIDTH<V> == 1) return all > 0 ? 0.0 : 1.0;
    else return each<V>([&](int l) { return all[l] > 0 ? 0.0 : 1.0; });
  }
};

// Data of the right-hand side for a line of planes
FN double weight(const Spectrum& s, int k) { return -double(s.height[k]) * double(s.scale); }

// The lines of WIDTH<V> positions, with the fields that hold right-hand sides and e.
template <class M, class V>
struct Lines {
  Spectrum s;
  M modes;
  Planes spectrum, pivots;

  // e of the planes [from, to), given e of all planes below
  INLINE void prepare(int from, int to) const {
    V e[M::N];
    for (int k = 0; k < to; ++k) {
      const double below = s.conductance[k], h = s.height[k];
      for (int m = 0; m < M::N; ++m)
        e[m] = modes.stiff[m] * h + (k ? below * e[m] / (below + e[m]) : V() + below);
      if (k >= from) modes.store_own(pivots, k, e);
    }
  }

  // Ends of a slab for its right-hand side, or with `unit` for unit inflow only
  INLINE void carry(const Slab& slab, bool unit, V (&out)[M::N], V (&x)[M::N]) const {
    V p[M::N];
    for (int m = 0; m < M::N; ++m) out[m] = unit ? V() + 1.0 : V(), x[m] = V(), p[m] = V() + 1.0;
#pragma unroll 4
    for (int k = slab.first; k < slab.last; ++k) {
      V d[M::N], e[M::N];
      modes.load_own(pivots, k, e);
      if (unit) for (int m = 0; m < M::N; ++m) d[m] = V();
      else modes.load(spectrum, k, d);
      for (int m = 0; m < M::N; ++m) {
        const Pivot<V> pivot(s, k, e[m]);
        const V y = out[m] + weight(s, k) * d[m];
        x[m] = x[m] + p[m] * (y * pivot.inverse);
        out[m] = y * pivot.through;
        p[m] = p[m] * pivot.through;
      }
    }
  }

  // y, then x instead of the right-hand sides of a slab. Several planes are loaded together, because the compiler cannot
  // exclude that a store changes the next load. On return x is the value in the lowest plane.
  INLINE void solve(const Slab& slab, V (&in)[M::N], V (&x)[M::N]) const {
    constexpr int DEPTH = WIDTH<V> > 1 ? 1 : M::N == 1 ? 8 : 2;
    V v[DEPTH][M::N], e[DEPTH][M::N];
    for (int base = slab.first; base < slab.last; base += DEPTH) {
      for (int n = 0; n < DEPTH; ++n)
        if (base + n < slab.last) modes.load(spectrum, base + n, v[n]), modes.load_own(pivots, base + n, e[n]);
      for (int n = 0; n < DEPTH; ++n)
        for (int m = 0; m < M::N; ++m)
          if (base + n < slab.last) {
            v[n][m] = in[m] + weight(s, base + n) * v[n][m];
            in[m] = v[n][m] * Pivot<V>(s, base + n, e[n][m]).through;
          }
      for (int n = 0; n < DEPTH; ++n)
        if (base + n < slab.last) modes.store(spectrum, base + n, v[n]);
    }
    for (int top = slab.last - 1; top >= slab.first; top -= DEPTH) {
      for (int n = 0; n < DEPTH; ++n)
        if (top - n >= slab.first) modes.load(spectrum, top - n, v[n]), modes.load_own(pivots, top - n, e[n]);
      for (int n = 0; n < DEPTH; ++n)
        for (int m = 0; m < M::N; ++m)
          if (top - n >= slab.first) {
            const Pivot<V> pivot(s, top - n, e[n][m]);
            v[n][m] = x[m] = v[n][m] * pivot.inverse + pivot.through * x[m];
          }
      for (int n = 0; n < DEPTH; ++n)
        if (top - n >= slab.first) modes.store(spectrum, top - n, v[n]);
    }
  }

  // The mean is free where p is given nowhere: x of its mode is made 0 in the lowest plane.
  INLINE bool free() const { return s.low_end[2] > 0 && s.high_end[2] > 0; }
  static INLINE V where_mean(V stiff, V value) {
    if constexpr (WIDTH<V> == 1) return stiff > 0 ? 0.0 : value;
    else return each<V>([&](int l) { return stiff[l] > 0 ? 0.0 : value[l]; });
  }
};
