// What differs from a mean in time, and the squares of its derivatives in a cell.
#include "metrics.h"

// A velocity less its mean, on its faces
struct Departure {
  In q, mean;
  INLINE real at(Index c) const { return q[c] - mean[c]; }
  // The square of its derivative along itself, in the cell
  INLINE real square_along(Index c, Axis a) const {
    const real rise = a.per_cell() * (at(c + a.step) - at(c));
    return rise * rise;
  }
  // Of that along b the mean of the squares on the four edges of the cell
  INLINE real square_across(Index c, Axis a, Axis b) const {
    const real low = b.per_face(0), high = b.per_face(1);
    const real first = low * (at(c) - at(c - b.step)), second = low * (at(c + a.step) - at(c + a.step - b.step));
    const real third = high * (at(c + b.step) - at(c)), fourth = high * (at(c + a.step + b.step) - at(c + a.step));
    return real(0.25) * (first * first + second * second + third * third + fourth * fourth);
  }
};
