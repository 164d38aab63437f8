// Two phases: f is the share of phase 1 in a cell.

FN real density(const Phases& p, real f) { return p.density_2 + (p.density_1 - p.density_2) * f; }

// On the low face of a cell across an axis: the plain mean of both cells
FN real density_on_face(const Phases& p, In f, Index c, Index step) {
  return real(0.5) * (density(p, f[c - step]) + density(p, f[c]));
}

// 1/mu = s/mu_1 + (1-s)/mu_2 or, if so wanted, mu = s mu_1 + (1-s) mu_2; 0 where a phase that is there has none. s = 2f - 1/2,
// from 0 to 1: f, and more so its mean around an edge, goes from 0 to 1 in some spacings, the share in one volume in one.
FN real viscosity(const Phases& p, real share) {
  const real f = 2 * share - real(0.5);
  if (f <= 0) return p.viscosity_2;
  if (f >= 1) return p.viscosity_1;
  const real product = p.viscosity_1 * p.viscosity_2, across = f * p.viscosity_2 + (1 - f) * p.viscosity_1;
  const real harmonic = across > 0 ? product / across : real(0);
  return p.arithmetic ? f * p.viscosity_1 + (1 - f) * p.viscosity_2 : harmonic;
}
