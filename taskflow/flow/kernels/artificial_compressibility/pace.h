// How long a step of pseudo-time may be.
#include "flux.h"

// |u . S| + root((u . S)^2 + b |S|^2) and |S|^2, S being the mean of both faces across D
struct Pace {
  real waves, square;
};
template <int D, class Geometry>
FN Pace pace(const Geometry& g, const Cell& c, Vector u, real b) {
  const auto s = g.template mean<D>(c);
  const real theta = dot(s, u), s2 = square(s);
  return {magnitude(theta) + root(theta * theta + b * s2), s2};
}

// One over the largest time step per volume, for a CFL number of 1
template <class Geometry>
FN real per_step(const Geometry& g, const Cell& c, Vector u, real b, const Numbers& n) {
  const Pace x = pace<0>(g, c, u, b), y = pace<1>(g, c, u, b);
#ifdef PLANAR
  const real waves = x.waves + y.waves, squares = x.square + y.square;
#else
  const Pace z = pace<2>(g, c, u, b);
  const real waves = (x.waves + y.waves) + z.waves, squares = (x.square + y.square) + z.square;
#endif
  return waves + 4 * n.spread * squares * g.inverse_volume(c);
}
