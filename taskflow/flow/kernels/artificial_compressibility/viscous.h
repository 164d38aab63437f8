// Diffusion through the low face of a cell: coefficients of the difference across it, and of those along it where cells are skewed.

template <class Q, class At, class Step>
FN real across(Q q, const At& at, Step A) { return q[at] - q[at - A]; }
// The differences along another direction on both sides of a face: four times their mean
template <class Q, class At, class Step>
FN real along(Q q, const At& at, Step A, Step E) { return (q[at + E] - q[at - E]) + (q[at - A + E] - q[at - A - E]); }

// grad q . S on a face is the sum of these times the differences.
template <int D>
struct Diffusion {
  real normal;
  template <class Q, class At, class S>
  INLINE real operator()(Q q, const At& at, const S& steps) const { return normal * across(q, at, steps.template of<D>()); }
};
template <int D>
struct Skewed {
  static constexpr int E = D == 0 ? 1 : 0, F = D == 2 ? 1 : 2;
  real normal, first, second;
  template <class Q, class At, class S>
  INLINE real operator()(Q q, const At& at, const S& steps) const {
    const auto A = steps.template of<D>();
    const real plane = fused(first, along(q, at, A, steps.template of<E>()), normal * across(q, at, A));
#ifdef PLANAR
    return plane;
#else
    return fused(second, along(q, at, A, steps.template of<F>()), plane);
#endif
  }
};

template <int D>
FN Diffusion<D> diffusion(const Uniform<Numbers>& g, const Cell&) {
  return {g.n.conductances[D]};
}
template <int D, class Ten, class C>
FN Skewed<D> diffusion(const MetricsOf<Ten>& g, const C& c) {
  using S = Skewed<D>;
  const Vector s = g.template face<D>(c);
  const real inverse = reciprocal(g.template volumes<D>(c)), share = real(0.125) * inverse;  // of areas and of differences there are four
#ifdef PLANAR
  return {square(s) * (2 * inverse), dot(s, g.template beside<D, S::E>(c)) * share, 0};
#else
  return {square(s) * (2 * inverse), dot(s, g.template beside<D, S::E>(c)) * share, dot(s, g.template beside<D, S::F>(c)) * share};
#endif
}
