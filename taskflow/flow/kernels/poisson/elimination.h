// The direct solver along z where cells have different heights h_k: for every mode
//
//   c_(k+1) (x_(k+1) - x_k) - c_k (x_k - x_(k-1)) - mu h_k x_k = h_k d_k,    c_k = 1 / distance of centres, or 0 on a wall
//
// by Gaussian elimination. Its pivots are c_(k+1) + e_k, with e_k = mu h_k + c_k e_(k-1) / (c_k + e_(k-1)): sums of numbers
// that are not negative, so e is right to the last digits, however small mu is. (In a chain of conductances c whose nodes leak
// mu h, it is what nodes up to k leak.) With r_k = c_(k+1) / (c_(k+1) + e_k) a plane gets `in` from below, hands on
// r_k y_k, y_k = in - h_k d_k, and has x_k = y_k / (c_(k+1) + e_k) + r_k x_(k+1).
//
// So a slab needs `in` and x of the plane above it. They follow from what all slabs make of d without them: `carry_up`, what
// goes to the plane above, and `carry_down`, the first x; and from two numbers that are the same for all d: `through`, the
// product of r, and `reach`, the first x of in = 1.
#include "modes.h"
#include "slab.h"

// What one over the pivot of a plane, and r, are. Only the highest plane may have nothing that it leaks to: then its x is free,
// and taken over from above.
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

// What a line of planes needs to know of the right-hand side
FN double weight(const Spectrum& s, int k) { return -double(s.height[k]) * double(s.scale); }

// The lines of WIDTH<V> positions, with the fields that hold right-hand sides and e.
template <class M, class V>
struct Lines {
  Spectrum s;
  M modes;
  Planes spectrum, pivots;

  // e of the planes [from, to), from those of all planes below
  INLINE void prepare(int from, int to) const {
    V e[M::N];
    for (int k = 0; k < to; ++k) {
      const double below = s.conductance[k], h = s.height[k];
      for (int m = 0; m < M::N; ++m)
        e[m] = modes.stiff[m] * h + (k ? below * e[m] / (below + e[m]) : V() + below);
      if (k >= from) modes.store_own(pivots, k, e);
    }
  }

  // What a slab makes of its right-hand side, or with `unit` of 1 coming in alone
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

  // y, then x in place of the right-hand sides of a slab, several planes loaded at a time: what is stored might be what is
  // loaded next, for all a compiler knows. On return x is that of the lowest plane.
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

// What is done with the lines at (i, j), V of them at once.
template <template <class> class Modes>
struct Prepare {
  Spectrum s;
  Planes pivots;
  int from, to;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    Lines<Modes<V>, V>{s, Modes<V>(s, i, j), pivots, pivots}.prepare(from, to);
  }
};

template <template <class> class Modes>
struct FindCarries {
  Spectrum s;
  Planes spectrum, pivots, out, first;
  int from, to;
  bool unit;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    const Lines<Modes<V>, V> lines{s, Modes<V>(s, i, j), spectrum, pivots};
    V up[Modes<V>::N], x[Modes<V>::N];
    for (int n = from; n < to; ++n) {
      lines.carry(Slab(s, n), unit, up, x);
      if (unit) lines.modes.store_own(out, n, up), lines.modes.store_own(first, n, x);
      else lines.modes.store(out, n, up), lines.modes.store(first, n, x);
    }
  }
};

template <template <class> class Modes>
struct SolveAlone {
  Spectrum s;
  Planes spectrum, pivots;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    typedef Modes<V> M;
    const Lines<M, V> lines{s, M(s, i, j), spectrum, pivots};
    const Slab all(s, 0);
    V in[M::N] = {}, x[M::N] = {};
    lines.solve(all, in, x);
    if (!lines.free() || i || j) return;
    for (int k = 0; k < s.cells[2]; ++k) {  // among these lines is the mean
      V v[M::N];
      lines.modes.load(spectrum, k, v);
      for (int m = 0; m < M::N; ++m) v[m] = v[m] - lines.where_mean(lines.modes.stiff[m], x[m]);
      lines.modes.store(spectrum, k, v);
    }
  }
};

template <template <class> class Modes>
struct SolveSlab {
  Spectrum s;
  Planes spectrum, pivots, carry_up, carry_down, through, reach;
  int from, to;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    typedef Modes<V> M;
    const Lines<M, V> lines{s, M(s, i, j), spectrum, pivots};
    for (int n = from; n < to; ++n) {
      V in[M::N], x[M::N];
      meet(lines, n, in, x);
      lines.solve(Slab(s, n), in, x);
    }
  }

  // What comes into slab n: from below by an ascent through all slabs, from above by the first x of those that follow.
  template <class M, class V>
  INLINE void meet(const Lines<M, V>& lines, int n, V (&in)[M::N], V (&x)[M::N]) const {
    V now[M::N] = {}, all[M::N] = {}, power[M::N], above[M::N] = {}, from_above[M::N];
    for (int m = 0; m < M::N; ++m) power[m] = from_above[m] = V() + 1.0;
    for (int l = 0; l < s.slabs; ++l) {
      V up[M::N], down[M::N], r[M::N], g[M::N];
      lines.modes.load(carry_up, l, up), lines.modes.load(carry_down, l, down);
      lines.modes.load_own(through, l, r), lines.modes.load_own(reach, l, g);
      for (int m = 0; m < M::N; ++m) {
        if (l == n) in[m] = now[m];
        const V first = down[m] + g[m] * now[m];
        all[m] = all[m] + power[m] * first;
        power[m] = power[m] * r[m];
        if (l > n) above[m] = above[m] + from_above[m] * first, from_above[m] = from_above[m] * r[m];
        now[m] = up[m] + r[m] * now[m];
      }
    }
    for (int m = 0; m < M::N; ++m)
      x[m] = above[m] - (lines.free() ? lines.where_mean(lines.modes.stiff[m], all[m]) : V());
  }
};

// The tasks for one kind of modes: see plain.h and dct.h

TASK NAMED(find_pivots)(Range range, Out pivots, Spectrum s) {
  for_lines(range, LINES, Prepare<MODES>{s, planes(pivots, range), range.lo[2], range.hi[2]});
}

TASK NAMED(slab_gains)(Range range, Out through, Out reach, Foreign pivots, Spectrum s) {
  for_lines(range, LINES,
            FindCarries<MODES>{s, planes(pivots), planes(pivots), planes(through, range), planes(reach, range), range.lo[2],
                        range.hi[2], true});
}

TASK NAMED(slab_sums)(Range range, Out carry_up, Out carry_down, Foreign spectrum, Foreign pivots, Spectrum s) {
  for_lines(range, LINES,
            FindCarries<MODES>{s, planes(spectrum), planes(pivots), planes(carry_up, range), planes(carry_down, range),
                        range.lo[2], range.hi[2], false});
}

TASK NAMED(eliminate)(Range range, InOut spectrum, In pivots, Spectrum s) {
  for_lines(range, LINES, SolveAlone<MODES>{s, planes(spectrum, range), planes(const_cast<real*>(pivots), range)});
}

TASK NAMED(eliminate_slab)(Range range, InOut spectrum, In pivots, Foreign carry_up, Foreign carry_down, Foreign through,
                           Foreign reach, Spectrum s) {
  const int from = range.lo[2] / s.slab, to = (range.hi[2] + s.slab - 1) / s.slab;
  for_lines(range, LINES,
            SolveSlab<MODES>{s, planes(spectrum, range), planes(const_cast<real*>(pivots), range), planes(carry_up),
                             planes(carry_down), planes(through), planes(reach), from, to});
}
