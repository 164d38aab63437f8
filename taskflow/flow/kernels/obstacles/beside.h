// The pressure around a cell beside bodies: a closed face shows it its own value.
#include "star.h"
#include "../flags.h"

// A cell's own value in place of its neighbour's behind a closed face
FN real seen(real neighbour, real here, int solid, int n) { return closed(solid, n) ? here : neighbour; }

FN Star star_beside(In p, Index c, Index X, Index Y, Index Z, int solid) {
  const real here = p[c];
  return {here,
          {seen(p[c - X], here, solid, 0), seen(p[c - Y], here, solid, 2), seen(p[c - Z], here, solid, 4)},
          {seen(p[c + X], here, solid, 1), seen(p[c + Y], here, solid, 3), seen(p[c + Z], here, solid, 5)}};
}
