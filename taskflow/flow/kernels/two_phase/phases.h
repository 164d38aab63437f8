// Two phases: f is the share of phase 1 in a cell.

FN real density(const Phases& p, real f) { return p.density_2 + (p.density_1 - p.density_2) * f; }

// On the low face of a cell across an axis: the plain mean of both cells
FN real density_on_face(const Phases& p, In f, Index c, Index step) {
  return real(0.5) * (density(p, f[c - step]) + density(p, f[c]));
}

// 1/mu = f/mu_1 + (1-f)/mu_2 or, if so wanted, mu = f mu_1 + (1-f) mu_2; 0 where a phase that is there has none
FN real viscosity(const Phases& p, real f) {
  if (f <= 0) return p.viscosity_2;
  if (f >= 1) return p.viscosity_1;
  const real product = p.viscosity_1 * p.viscosity_2, across = f * p.viscosity_2 + (1 - f) * p.viscosity_1;
  const real harmonic = across > 0 ? product / across : real(0);
  return p.arithmetic ? f * p.viscosity_1 + (1 - f) * p.viscosity_2 : harmonic;
}
