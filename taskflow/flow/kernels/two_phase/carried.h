// What a flow carries through a face: the value on its upwind side, corrected by Koren's limiter.
#include "../limiter.h"
#include "../metrics.h"
#include "ahead.h"

// Three values in a row: before the upwind one, that, and the downwind one. A flag among them would keep loops over floats from
// being vector loops: the compiler leaves such a struct in memory.
struct Row3 {
  real before, up, down;
};

// On a face between q[at - step] and q[at]
FN Row3 across_face(In q, Index at, Index step, bool forward) {
  const real lower = q[at - 2 * step], low = q[at - step], high = q[at], higher = q[at + step];
  return {forward ? lower : higher, forward ? low : high, forward ? high : low};
}

// Where none of them lies beyond a boundary, and the value before is not the one there (`ends`)
FN real bent(const Row3& r, bool ends) { return r.up + real(0.5) * limited(r.up - r.before, r.down - r.up, ends); }

// On face n of a direction with cells from `first` to `last`: on boundaries what enters has the value there, the mean of both
// cells, and what leaves that of the cell inside.
FN real carried_on_face(const Row3& r, bool forward, int n, int first, int last) {
  const bool at_low = n == first, at_high = n == last + 1;
  const bool entering = either(forward, at_low, at_high), leaving = either(forward, at_high, at_low);
  const bool ends = either(forward, n == first + 1, n == last);
  return entering ? real(0.5) * (r.up + r.down) : leaving ? r.up : bent(r, ends);
}
