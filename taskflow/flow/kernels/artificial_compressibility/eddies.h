// Eddies, whose viscosity is that of cells: friction is the whole stress there. A flow without them has None in place of the field, and
// nothing of this is in the machine code.

// A text may have tasks with eddies beside one that is launched without: they compile, with numbers that nobody reads.
#ifdef EDDIES
FN real share_of(const Numbers& n) { return n.share; }
FN real eddying_of(const Numbers& n) { return n.eddying; }
FN real half_of(const Numbers& n) { return n.half; }
#else
FN real share_of(const Numbers&) { return 1; }
FN real eddying_of(const Numbers&) { return 2; }
FN real half_of(const Numbers&) { return real(0.5); }
#endif

// Viscosity and diffusivity on the face between two cells, whose geometry has a unit of length of its own; nu_t has not
FN real viscosity_on(None, const Numbers& n, Index, Index) { return n.viscosity; }
FN real diffusivity_on(None, const Numbers& n, Index, Index) { return n.diffusivity; }
FN real viscosity_on(In nu_t, const Numbers& n, Index one, Index other) { return n.viscosity + half_of(n) * (nu_t[one] + nu_t[other]); }
FN real diffusivity_on(In nu_t, const Numbers& n, Index one, Index other) {
  return n.diffusivity + share_of(n) * (half_of(n) * (nu_t[one] + nu_t[other]));
}

// What a cell spreads per step: the sum over directions of 4 spread |S|^2, the eddies' part being the mean of both faces
FN real spread(None, const Numbers& n, Index, const Steps&, real, real, real, real squares) { return 4 * n.spread * squares; }
FN real spread(In nu_t, const Numbers& n, Index c, const Steps& steps, real x, real y, real z, real squares) {
  const real here = 2 * nu_t[c];
  const auto around = [&](Index A) __attribute__((always_inline)) { return (nu_t[c - A] + nu_t[c + A]) + here; };
  const real plane = around(steps.x) * x + around(steps.y) * y;
#ifdef PLANAR
  const real all = plane;
#else
  const real all = plane + around(steps.z) * z;
#endif
  return 4 * n.spread * squares + eddying_of(n) * all;
}

// What times the viscosity is friction through the low face of a cell: grad u . S, or (grad u + (grad u)^T) . S
template <int D, class Eddies, class Geometry, class Conduction, class Q, class F, class Lengths>
FN Vector strain_on(Eddies, const Geometry&, const Conduction& conduct, Q u, Q v, Q w, const F& f, const Lengths& steps) {
  return {conduct(u, f, steps), conduct(v, f, steps), conduct(w, f, steps)};
}
template <int D, class Ten, class Q, class At, class Lengths>
FN Vector strain_on(In, const MetricsOf<Ten>& g, const Skewed<D>& conduct, Q u, Q v, Q w, const At& f, const Lengths& steps) {
  using S = Skewed<D>;
  const auto A = steps.template of<D>(), E = steps.template of<S::E>();
  const Vector s = g.template face<D>(f);
  const real share = real(1.0 / 16);  // of areas and of differences along a face there are four
  const Vector change{across(u, f, A), across(v, f, A), across(w, f, A)}, beside{along(u, f, A, E), along(v, f, A, E), along(w, f, A, E)};
  Vector sum = plus(dot(s, change) * s, share * dot(s, beside), g.template beside<D, S::E>(f));
#ifndef PLANAR
  const auto F = steps.template of<S::F>();
  const Vector further{along(u, f, A, F), along(v, f, A, F), along(w, f, A, F)};
  sum = plus(sum, share * dot(s, further), g.template beside<D, S::F>(f));
#endif
  const Vector straight{conduct(u, f, steps), conduct(v, f, steps), conduct(w, f, steps)};
  return plus(straight, 2 * reciprocal(g.template volumes<D>(f)), sum);
}
