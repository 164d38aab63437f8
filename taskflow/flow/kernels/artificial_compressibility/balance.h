// What passes the faces of a cell: mass, momentum and heat, carried and spread.
#include "faces.h"
#include "flux.h"
#include "carried.h"
#include "viscous.h"
#include "eddies.h"
#include "surfaces.h"

#ifdef PLANAR
constexpr int AXES = 2;
#else
constexpr int AXES = 3;
#endif

FN Compressibility compressibility(None, const Numbers& n, Index, Index) { return {n.compressibility, n.inverse_compressibility}; }
FN Compressibility compressibility(In b, const Numbers&, Index one, Index other) {
  const real here = real(0.5) * (b[one] + b[other]);
  return {here, reciprocal(here)};
}

struct Warmth {
  Row around;
  real conducted;
};
template <class F, class Conduction, class Lengths>
FN None heat_on(None, const Conduction&, const F&, const Lengths&) { return {}; }
template <class Q, class F, class Conduction, class Lengths>
FN Warmth heat_on(Q T, const Conduction& conduct, const F& f, const Lengths& steps) {
  return {row(T, f, steps.template of<F::axis>()), conduct(T, f, steps)};
}
// What leaves a cell of a scalar, less its own value times the mass that leaves: while div u is not 0, what is uniform stays so.
FN real settled(real leaving, real mass, real own) { return fused(-mass, own, leaving); }
FN real heat_through(const Warmth& T, real mass, const Lying& side, real diffusivity, const Numbers& n) {
  return fused(mass, carried(T.around, mass, side, {n.least[2], n.per[2]}), -(diffusivity * T.conducted));
}

// Numbers of a face: what passes of the state, of heat, and, where that is to be kept apart, what friction and scheme add to the state
template <class Heat, class Kept>
struct Passing {
  static constexpr int heat = 4, added = heat + present<Heat>, count = added + (present<Kept> ? 4 : 0);
  INLINE static real mass(const real* numbers) {
    if constexpr (present<Kept>) return numbers[0] + numbers[added];
    return numbers[0];
  }
};
FN void put(real* numbers, const State& a) { numbers[0] = a.p, numbers[1] = a.u.x, numbers[2] = a.u.y, numbers[3] = a.u.z; }
FN State state(const real* numbers) { return {numbers[0], {numbers[1], numbers[2], numbers[3]}}; }

// All that is loaded comes first: a GPU loads nothing while it finds a root.
template <class Q, class Heat, class Kept, class F, class Geometry, class B, class Swept, class Eddies, class Aperture, class Lengths>
FN auto passing(const FieldsOf<Q>& q, Heat T, Kept, const Geometry& g, InByte sides, B b, Swept field, Eddies nu_t, Aperture aperture, const F& f,
                const Lengths& steps, const Numbers& n) {
  using P = Passing<Heat, Kept>;
  const auto A = steps.template of<F::axis>();
  const Lying side = lying_on(sides, f, A);
  const auto conduct = diffusion<F::axis>(g, f);
  const Vector friction = strain_on<F::axis>(nu_t, g, conduct, q.u, q.v, q.w, f, steps);
  const auto warmth = heat_on(T, conduct, f, steps);
  const auto swept = swept_by<F::axis>(field, f);
  const auto flux = through(continued(rows(q, f, A), aperture, f, side), g, f, side, compressibility(b, n, f - A, f), n, swept);
  const State rubbed = present<Kept> ? flux.added() : flux.all();
  Values<P::count> out;
  if constexpr (present<Kept>) put(out.of, flux.carried());
  put(out.of + (present<Kept> ? P::added : 0), {rubbed.p, plus(rubbed.u, -viscosity_on(nu_t, n, f - A, f), friction)});
  if constexpr (present<Heat>) out.of[P::heat] = heat_through(warmth, relative(flux.mass(), swept), side, diffusivity_on(nu_t, n, f - A, f), n);
  return opened(out, aperture, f);
}

// Forces per mass: one everywhere, one of each cell, and the lift of warm fluid
FN Vector pushed(None, None, None, Index, const Numbers& n) { return {n.force[0], n.force[1], n.force[2]}; }
FN Vector pushed(In x, In y, In z, Index c, const Numbers& n) { return {n.force[0] + x[c], n.force[1] + y[c], n.force[2] + z[c]}; }
FN Vector lifted(Vector force, None, Index, const Numbers&) { return force; }
FN Vector lifted(Vector force, In T, Index c, const Numbers& n) {
  const real warm = T[c] - n.reference;
  return {fused(n.lift[0], warm, force.x), fused(n.lift[1], warm, force.y), fused(n.lift[2], warm, force.z)};
}
