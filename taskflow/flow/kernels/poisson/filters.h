// The direct solver along z: x_(k-1) - (2 + kappa) x_k + x_(k+1) = d_k for every mode, by two recursive filters.
//
// On a line without ends f_k = -lambda d_k + lambda f_(k-1), then x_k = f_k + lambda x_(k+1), lambda + 1/lambda = 2 +
// kappa. A slab of planes needs f of the plane below it and x of the plane above it. Both follow from two numbers per
// slab: `carry_up`, its last f, and `carry_down`, its first x, both with zeros coming in. lambda is kept as w = 1 - lambda.
#include "modes.h"
#include "slab.h"

#ifdef FEW_LINES
constexpr bool SPARSE = true;
#else
constexpr bool SPARSE = false;
#endif

// Where lines are few, nothing else hides the time that loads take: so many planes are loaded together, in registers.
template <class M>
constexpr int TOGETHER = M::N == 1 ? 32 : 12;

// f(values) for TOGETHER planes upward or downward from `first` on; stores what f makes of them if `changes`
template <bool changes, int direction, class M, class F>
FN void group(const M& modes, const Planes& spectrum, int first, F f) {
  double v[TOGETHER<M>][M::N];
#pragma unroll
  for (int n = 0; n < TOGETHER<M>; ++n) modes.load(spectrum, first + direction * n, v[n]);
#pragma unroll
  for (int n = 0; n < TOGETHER<M>; ++n) f(v[n]);
  if constexpr (changes) {
#pragma unroll
    for (int n = 0; n < TOGETHER<M>; ++n) modes.store(spectrum, first + direction * n, v[n]);
  }
}

// lambda^n, and 1 + lambda^2 + ... + lambda^(2n - 2)
template <class V>
struct Power {
  V power, sum;

  INLINE Power(V lambda, int n) : power(V() + 1.0), sum(V()) {
    const V square = lambda * lambda;
    int bit = 1;
    while (bit <= n / 2) bit *= 2;
    for (; n && bit; bit /= 2) {
      sum = sum * (1.0 + power * power);
      power = power * power;
      if (n & bit) {
        sum = 1.0 + square * sum;
        power = power * lambda;
      }
    }
  }
};

// The last f and the first x of a slab, with zeros coming in.
template <class M, class V>
struct Carries {
  V f[M::N], x[M::N];

  INLINE Carries(const Spectrum& s, const Slab& slab, const M& modes, const Planes& spectrum) {
    V p[M::N], gain[M::N];
    for (int m = 0; m < M::N; ++m) {
      f[m] = x[m] = V(), p[m] = V() + 1.0;
      gain[m] = (modes.decay[m] - 1.0) * double(s.scale);
    }
    const auto pass = [&](V (&d)[M::N]) {
      for (int m = 0; m < M::N; ++m) {
        f[m] = gain[m] * d[m] + (f[m] - modes.decay[m] * f[m]);
        x[m] = x[m] + p[m] * f[m];
        p[m] = p[m] - modes.decay[m] * p[m];
      }
    };
    int k = slab.first;
    if constexpr (SPARSE && WIDTH<V> == 1)
      for (; k + TOGETHER<M> <= slab.last; k += TOGETHER<M>) group<false, 1>(modes, spectrum, k, pass);
#pragma unroll 4
    for (; k < slab.last; ++k) {
      V d[M::N];
      modes.load(spectrum, k, d);
      pass(d);
    }
  }
};

// Slabs in ascending order: f at the end of the last one, and the contribution of all to the first x.
template <class V>
struct Ascent {
  V f, x, power, sum;

  INLINE void begin(V below) { f = below, x = sum = V(), power = V() + 1.0; }
  INLINE void pass(V carry_up, V carry_down, V w, int planes) {
    const V lambda = 1.0 - w;
    const Power<V> across(lambda, planes);
    x = x + power * (carry_down + lambda * across.sum * f);
    f = carry_up + across.power * f;
    sum = sum + power * power * across.sum;
    power = power * across.power;
  }
};

// f of the plane below all slabs and x of the plane above them, given an ascent through all that started with 0.
template <class V>
struct Ends {
  V below, above;

  INLINE Ends(const Spectrum& s, V w, const Ascent<V>& all) {
    const V lambda = 1.0 - w, F = all.f, X = all.x, power = all.power, none = V(), through = lambda * all.sum;
    const int low = s.low_end[2], high = s.high_end[2];
    if (!low) {  // periodic; the mean has x = 0 in the lowest plane
      const V rest = w * (1.0 + lambda) * all.sum / (1.0 + power);
      below = where(w, F / rest, -X / double(s.cells[2]));
      above = where(w, (X + through * below) / rest, none);
      return;
    }
    const V a = low > 0 ? w : -1.0 - lambda, q = high > 0 ? w : 1.0 + lambda, sign = none + double(high);
    const V det = low != high ? 1.0 + power * power : q * q * all.sum;
    below = a * (q * X + sign * power * F) / det;
    above = sign * ((1.0 - a * through) * F + a * power * X) / det;
    if (low > 0 && high > 0) {
      below = where(w, below, none);
      above = where(w, above, -X);
    }
  }

  // v where w > 0, else m: the mean
  static INLINE V where(V w, V v, V m) {
    if constexpr (WIDTH<V> == 1) return w > 0 ? v : m;
    else return each<V>([&](int l) { return w[l] > 0 ? v[l] : m[l]; });
  }
};

// f and x that come into a slab.
template <class M, class V>
struct Incoming {
  V f[M::N], x[M::N];

  // into the only slab
  INLINE Incoming(const Spectrum& s, const M& modes, const Carries<M, V>& carries) {
    for (int m = 0; m < M::N; ++m) {
      Ascent<V> all;
      all.begin(V());
      all.pass(carries.f[m], carries.x[m], modes.decay[m], s.cells[2]);
      const Ends<V> ends(s, modes.decay[m], all);
      f[m] = ends.below, x[m] = ends.above;
    }
  }

  INLINE Incoming(const Spectrum& s, int slab, const M& modes, const Planes& carry_up, const Planes& carry_down) {
    Ascent<V> all[M::N];
    V above[M::N];
    for (int m = 0; m < M::N; ++m) all[m].begin(V());
    for (int n = 0; n < s.slabs; ++n) pass(s, n, modes, carry_up, carry_down, all);
    for (int m = 0; m < M::N; ++m) {
      const Ends<V> ends(s, modes.decay[m], all[m]);
      all[m].begin(ends.below);
      above[m] = ends.above;
    }
    for (int n = 0; n < s.slabs; ++n) {
      for (int m = 0; m < M::N; ++m)
        if (n == slab) f[m] = all[m].f;
      pass(s, n, modes, carry_up, carry_down, all);
      for (int m = 0; m < M::N; ++m)
        if (n == slab) all[m].begin(all[m].f);  // the value below does not come from above
    }
    for (int m = 0; m < M::N; ++m) x[m] = all[m].x + all[m].power * above[m];
  }

  static INLINE void pass(const Spectrum& s, int n, const M& modes, const Planes& carry_up, const Planes& carry_down,
                          Ascent<V> (&ascent)[M::N]) {
    const Slab slab(s, n);
    V up[M::N], down[M::N];
    modes.load(carry_up, n, up);
    modes.load(carry_down, n, down);
    for (int m = 0; m < M::N; ++m) ascent[m].pass(up[m], down[m], modes.decay[m], slab.planes());
  }
};

// The two filters over the planes of a slab. Several planes are loaded together, because the compiler cannot exclude that a
// store changes the next load.
template <class M, class V>
FN void filter(const Spectrum& s, const Slab& slab, const M& modes, const Planes& spectrum, Incoming<M, V> carry) {
  constexpr int DEPTH = WIDTH<V> > 1 ? 1 : M::N == 1 ? 8 : 4;
  V gain[M::N], v[DEPTH][M::N];
  for (int m = 0; m < M::N; ++m) gain[m] = (modes.decay[m] - 1.0) * double(s.scale);
  const auto up = [&](V (&d)[M::N]) {
    for (int m = 0; m < M::N; ++m) d[m] = carry.f[m] = gain[m] * d[m] + (carry.f[m] - modes.decay[m] * carry.f[m]);
  };
  const auto down = [&](V (&d)[M::N]) {
    for (int m = 0; m < M::N; ++m) d[m] = carry.x[m] = d[m] + (carry.x[m] - modes.decay[m] * carry.x[m]);
  };
  int base = slab.first, top = slab.last - 1;
  if constexpr (SPARSE && WIDTH<V> == 1)
    for (; base + TOGETHER<M> <= slab.last; base += TOGETHER<M>) group<true, 1>(modes, spectrum, base, up);
  for (; base < slab.last; base += DEPTH) {
    for (int n = 0; n < DEPTH; ++n)
      if (base + n < slab.last) modes.load(spectrum, base + n, v[n]);
    for (int n = 0; n < DEPTH; ++n)
      if (base + n < slab.last) up(v[n]);
    for (int n = 0; n < DEPTH; ++n)
      if (base + n < slab.last) modes.store(spectrum, base + n, v[n]);
  }
  if constexpr (SPARSE && WIDTH<V> == 1)
    for (; top - TOGETHER<M> + 1 >= slab.first; top -= TOGETHER<M>) group<true, -1>(modes, spectrum, top, down);
  for (; top >= slab.first; top -= DEPTH) {
    for (int n = 0; n < DEPTH; ++n)
      if (top - n >= slab.first) modes.load(spectrum, top - n, v[n]);
    for (int n = 0; n < DEPTH; ++n)
      if (top - n >= slab.first) down(v[n]);
    for (int n = 0; n < DEPTH; ++n)
      if (top - n >= slab.first) modes.store(spectrum, top - n, v[n]);
  }
}

// Operations on the lines at (i, j), V of them together.
template <template <class> class Modes>
struct FindCarries {
  Spectrum s;
  Planes spectrum, carry_up, carry_down;
  int from, to;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    const Modes<V> modes(s, i, j);
    for (int n = from; n < to; ++n) {
      const Carries<Modes<V>, V> carries(s, Slab(s, n), modes, spectrum);
      modes.store(carry_up, n, carries.f);
      modes.store(carry_down, n, carries.x);
    }
  }
};

template <template <class> class Modes>
struct SolveAlone {
  Spectrum s;
  Planes spectrum;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    const Modes<V> modes(s, i, j);
    const Slab all(s, 0);
    filter(s, all, modes, spectrum, Incoming<Modes<V>, V>(s, modes, Carries<Modes<V>, V>(s, all, modes, spectrum)));
  }
};

template <template <class> class Modes>
struct SolveSlab {
  Spectrum s;
  Planes spectrum, carry_up, carry_down;
  int from, to;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    const Modes<V> modes(s, i, j);
    for (int n = from; n < to; ++n)
      filter(s, Slab(s, n), modes, spectrum, Incoming<Modes<V>, V>(s, n, modes, carry_up, carry_down));
  }
};

// The tasks for one kind of modes: see plain.h and dct.h

TASK NAMED(slab_ends)(Range range, Out carry_up, Out carry_down, Foreign spectrum, Spectrum s) {
  const Planes up = planes(carry_up, range), down = planes(carry_down, range);
  for_lines(range, LINES, FindCarries<MODES>{s, planes(spectrum), up, down, range.lo[2], range.hi[2]});
}

TASK NAMED(tridiagonal_slab)(Range range, InOut spectrum, Foreign carry_up, Foreign carry_down, Spectrum s) {
  const int from = range.lo[2] / s.slab, to = (range.hi[2] + s.slab - 1) / s.slab;
  for_lines(range, LINES, SolveSlab<MODES>{s, planes(spectrum, range), planes(carry_up), planes(carry_down), from, to});
}

TASK NAMED(tridiagonal)(Range range, InOut spectrum, Spectrum s) {
  for_lines(range, LINES, SolveAlone<MODES>{s, planes(spectrum, range)});
}
