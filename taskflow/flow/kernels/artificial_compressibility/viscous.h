// Diffusion through the low face of a cell: coefficients of the difference across it, and of those along it where cells are skewed.

FN real across(In q, Index at, Index A) { return q[at] - q[at - A]; }
// The differences along another direction on both sides of a face: four times their mean
FN real along(In q, Index at, Index A, Index E) { return (q[at + E] - q[at - E]) + (q[at - A + E] - q[at - A - E]); }

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
    const real plane = fused(first, along(q, at, A, steps.of<E>()), normal * across(q, at, A));
#ifdef PLANAR
    return plane;
#else
    return fused(second, along(q, at, A, steps.of<F>()), plane);
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
  const real inverse = reciprocal(g.volumes<D>(c)), share = real(0.125) * inverse;  // of areas and of differences there are four
#ifdef PLANAR
  return {square(s) * (2 * inverse), dot(s, g.beside<D, S::E>(c)) * share, 0};
#else
  return {square(s) * (2 * inverse), dot(s, g.beside<D, S::E>(c)) * share, dot(s, g.beside<D, S::F>(c)) * share};
#endif
}
