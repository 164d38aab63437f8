// How long a step of pseudo-time may be.
#include "flux.h"
#include "viscous.h"
#include "eddies.h"

// |u . S| + root((u . S)^2 + b |S|^2) and |S|^2, S being the mean of both faces across D
struct Pace {
  real waves, square;
};
template <int D, class Geometry, class C, class Swept>
FN Pace pace(const Geometry& g, const C& c, Vector u, real b, Swept swept) {
  const auto s = g.template mean<D>(c);
  const real theta = middle_of(dot(s, u), swept_across<D>(swept, c)), s2 = square(s);
  return {magnitude(theta) + root_above(fused(theta, theta, b * s2)), s2};
}

// One over the largest time step per volume, for a CFL number of 1
template <class Geometry, class C, class Swept, class Eddies>
FN real per_step(const Geometry& g, const C& c, Vector u, real b, const Numbers& n, Swept swept, Eddies nu_t, const Steps& steps) {
  const Pace x = pace<0>(g, c, u, b, swept), y = pace<1>(g, c, u, b, swept);
#ifdef PLANAR
  const real waves = x.waves + y.waves, squares = x.square + y.square, third = 0;
#else
  const Pace z = pace<2>(g, c, u, b, swept);
  const real waves = (x.waves + y.waves) + z.waves, squares = (x.square + y.square) + z.square, third = z.square;
#endif
  return fused(spread(nu_t, n, c, steps, x.square, y.square, third, squares), g.inverse_volume(c), waves);
}
