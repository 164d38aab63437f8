// The pressure around a cell beside bodies: a closed face shows it its own value.
#include "star.h"
#include "../flags.h"

// A cell's own value in place of its neighbour's behind a closed face
FN real seen(real neighbour, real here, int solid, int n) { return closed(solid, n) ? here : neighbour; }

FN Star beside(const Star& p, int solid) {
  return {p.here,
          {seen(p.low[0], p.here, solid, 0), seen(p.low[1], p.here, solid, 2), seen(p.low[2], p.here, solid, 4)},
          {seen(p.high[0], p.here, solid, 1), seen(p.high[1], p.here, solid, 3), seen(p.high[2], p.here, solid, 5)}};
}
