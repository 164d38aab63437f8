// Diffusivity of heat and scalars: uniform, or increased by the eddy diffusivity nu_t / prandtl, with nu_t on a face the mean
// of its two cells.
struct Even {
  real diffusivity;
  INLINE real between(Index, Index) const { return diffusivity; }
};

struct Stirred {
  real diffusivity, half;  // half = 1 / (2 prandtl)
  In nu_t;
  INLINE real between(Index a, Index b) const { return diffusivity + half * (nu_t[a] + nu_t[b]); }
};

// Without eddies the Prandtl number is absent.
FN Even diffusivity_of(real molecular, None, None) { return {molecular}; }
FN Stirred diffusivity_of(real molecular, In nu_t, real prandtl) { return {molecular, real(0.5) / prandtl, nu_t}; }
