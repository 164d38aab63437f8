// Koren's limiter (B. Koren 1993).
#include "choices.h"

FN real smaller(real a, real b) { return b < a ? b : a; }

// Twice the way from the upwind value to that on the face: `ahead` times Koren's limiter min(2 r, (2 + r) / 3, 2) of
// r = behind / ahead, 0 for r < 0. Where `behind` ends in a ghost cell it is twice the way to the boundary: then r, not
// 2 r.
#ifdef GPU
FN real limited(real behind, real ahead, bool ends) {
  const real a = magnitude(behind), b = magnitude(ahead);  // which cost nothing
  const real most = smaller(smaller(ends ? a : 2 * a, 2 * b), (a + 2 * b) * real(1.0 / 3));
  const real along = (behind > 0) == (ahead > 0) ? most : real(0);
  return ahead > 0 ? along : -along;
}
#else
// a, or -a where b is negative
FN real turned(real a, real b) { return number_of(bits_of(a) ^ (bits_of(b) & bits_of(real(-0.0)))); }

FN real limited(real behind, real ahead, bool ends) {
  const real a = turned(behind, ahead), b = turned(ahead, ahead);
  const real most = smaller(smaller(ends ? a : 2 * a, 2 * b), (a + 2 * b) * real(1.0 / 3));
  return turned(most > 0 ? most : real(0), ahead);
}
#endif
