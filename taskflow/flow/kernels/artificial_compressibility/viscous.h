// Diffusion through the low face of a cell: coefficients of the difference across it, and of those along it where cells are skewed.

FN real across(In q, Index at, Index A) { return q[at] - q[at - A]; }
// The mean over both sides of a face of half the difference along another direction
FN real along(In q, Index at, Index A, Index E) {
  return real(0.25) * ((q[at + E] - q[at - E]) + (q[at - A + E] - q[at - A - E]));
}

// grad q . S on a face is the sum of these times the differences.
template <int D>
struct Diffusion {
  real normal;
  INLINE real operator()(In q, Index at, const Steps& steps) const { return normal * across(q, at, steps.of<D>()); }
};
template <int D>
struct Skewed {
  static constexpr int E = D == 0 ? 1 : 0, F = D == 2 ? 1 : 2;
  real normal, first, second;
  INLINE real operator()(In q, Index at, const Steps& steps) const {
    const Index A = steps.of<D>();
    const real plane = normal * across(q, at, A) + first * along(q, at, A, steps.of<E>());
#ifdef PLANAR
    return plane;
#else
    return plane + second * along(q, at, A, steps.of<F>());
#endif
  }
};

template <int D>
FN Diffusion<D> diffusion(const Uniform<Numbers>& g, const Cell&) {
  return {g.n.conductances[D]};
}
template <int D>
FN Skewed<D> diffusion(const Stored& g, const Cell& c) {
  using S = Skewed<D>;
  const Vector s = g.face<D>(c);
  const real inverse = reciprocal(g.volume_around<D>(c));
#ifdef PLANAR
  return {square(s) * inverse, dot(s, g.beside<D, S::E>(c)) * inverse, 0};
#else
  return {square(s) * inverse, dot(s, g.beside<D, S::E>(c)) * inverse, dot(s, g.beside<D, S::F>(c)) * inverse};
#endif
}
