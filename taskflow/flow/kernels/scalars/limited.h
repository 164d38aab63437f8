// Fluxes of bounded quantities through faces: upwind-biased values, with Koren's limiter.
#include "../clear.h"
#include "../flags.h"
#include "../limiter.h"
#include "../metrics.h"

// A direction: its number, the step to the next cell, the cells adjacent to boundaries, and the velocity along it before and
// after the stage.
struct Direction {
  int number;
  Index step;
  int first, last;
  In before, after;
};

// Flux through the low face of cell c, number n along d: advective, and diffusive with `per_face` = 1 / distance. On boundaries
// inflow has the boundary value, the mean of both cells, and outflow the value of the inner cell. `kind` is the other side of
// the face: 0 for fluid. The faces of an AMID cell are neither on boundaries nor next to those on them.
template <bool AMID = false, class Diffusivity>
FN real passing(In q, Index c, int n, const Direction& d, real per_face, const Diffusivity& by, int kind) {
  const Index S = d.step;
  const real low = q[c - S], high = q[c], speed = real(0.5) * (d.before[c] + d.after[c]);
  const bool forward = speed > 0;
  const real up = forward ? low : high, down = forward ? high : low, beyond = forward ? q[c - 2 * S] : q[c + S];
  bool entering = false, leaving = false, ends = false;
  if constexpr (!AMID) {
    const bool at_low = n == d.first, at_high = n == d.last + 1;
    entering = either(forward, at_low, at_high), leaving = either(forward, at_high, at_low);
    ends = either(forward, n == d.first + 1, n == d.last);
  }
  const real inner = up + real(0.5) * limited(up - beyond, down - up, ends);
  const real value = entering ? real(0.5) * (low + high) : leaving ? up : inner;
  const real across = kind == 0 ? by.between(c - S, c) : real(kind & ISOTHERMAL) * by.diffusivity;
  return speed * value - across * per_face * (high - low);
}
