// How often per time the flow crosses a cell: what bounds the length of a time step.
#include "metrics.h"

// The larger magnitude on the two faces of a cell across one direction.
FN real fastest(In q, Index c, Index step) { return larger(magnitude(q[c]), magnitude(q[c + step])); }

// |u|/dx + |v|/dy + |w|/dz, each with the larger of a cell's two faces
FN real crossings(In u, In v, In w, Cell c, Index X, Index Y, Index Z, const Grid& grid) {
  return axis(grid, 0, c.i, X).per_cell() * fastest(u, c, X) + axis(grid, 1, c.j, Y).per_cell() * fastest(v, c, Y) +
         axis(grid, 2, c.k, Z).per_cell() * fastest(w, c, Z);
}
