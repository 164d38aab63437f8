// How often per time the flow crosses a cell: what bounds the length of a time step.
#include "metrics.h"

FN real fastest(real low, real high) { return larger(magnitude(low), magnitude(high)); }

// |u|/dx + |v|/dy + |w|/dz, each with the larger of a cell's two faces
FN real crossings(real u, real v, real w, Axis x, Axis y, Axis z) {
  return x.per_cell() * u + y.per_cell() * v + z.per_cell() * w;
}
