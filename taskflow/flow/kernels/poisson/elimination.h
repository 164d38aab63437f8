// The direct solver along z for cells of different heights, by the elimination of chain.h.
//
// A slab needs `in` and x of the plane above it. They are computed from the results of all slabs without them: `carry_up`,
// the outflow to the plane above, and `carry_down`, the first x; and from two numbers that do not depend on d: `through`, the
// product of r, and `reach`, the first x for in = 1.
#include "chain.h"

// Operations on the lines at (i, j), V of them together.
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

  // Inflow of slab n: from below by an ascent through all slabs, from above by the first x of the next slabs.
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
