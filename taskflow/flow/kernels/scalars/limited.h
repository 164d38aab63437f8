// What passes a face of what is kept within its bounds: upwind-biased values, with Koren's limiter.
#include "../flags.h"
#include "../metrics.h"

FN real smaller(real a, real b) { return b < a ? b : a; }

// A direction: its number, from a cell to the next, the cells beside boundaries, and the velocity along it before and after
// the stage.
struct Direction {
  int number;
  Index step;
  int first, last;
  In before, after;
};

// Twice the way from the upwind value to that on the face: `ahead` times Koren's limiter min(2 r, (2 + r) / 3, 2) of
// r = behind / ahead, 0 for r < 0. Where `behind` ends in a ghost cell it is twice the way to the boundary: then r, not
// 2 r.
FN real limited(real behind, real ahead, bool ends) {
  const real a = magnitude(behind), b = magnitude(ahead);
  const real most = smaller(smaller(ends ? a : 2 * a, 2 * b), (a + 2 * b) * real(1.0 / 3));
  const real along = (behind > 0) == (ahead > 0) ? most : real(0);
  return ahead > 0 ? along : -along;
}

// What passes the low face of cell c, number n along d: carried, and by diffusion, `per_face` being one over the distance. On
// boundaries what enters has the value there, the mean of both cells, and what leaves that of the cell inside. `kind` is what
// lies behind the face: 0 for fluid.
template <class Diffusivity>
FN real passing(In q, Index c, int n, const Direction& d, real per_face, const Diffusivity& by, int kind) {
  const Index S = d.step;
  const real low = q[c - S], high = q[c], speed = real(0.5) * (d.before[c] + d.after[c]);
  const bool forward = speed > 0;
  const real up = forward ? low : high, down = forward ? high : low, beyond = forward ? q[c - 2 * S] : q[c + S];
  const bool at_low = n == d.first, at_high = n == d.last + 1;
  const bool entering = forward ? at_low : at_high, leaving = forward ? at_high : at_low;
  const bool ends = forward ? n == d.first + 1 : n == d.last;
  const real inner = up + real(0.5) * limited(up - beyond, down - up, ends);
  const real value = entering ? real(0.5) * (low + high) : leaving ? up : inner;
  const real across = kind == 0 ? by.between(c - S, c) : real(kind & HELD) * by.diffusivity;
  return speed * value - across * per_face * (high - low);
}
