// What boxes release into the flow.
#define UZ 1
#include "cell.h"

// The share of a cell that lies in a box, along one direction.
FN real share(int n, int first, int last, real head, real tail) { return n == first ? head : n == last ? tail : real(1); }

// q += dt strength (share of the cell that lies in the box of the source)
TASK release(Range range, InOut q, In64 dt, Release release) {
  const real step = real(*dt) * release.strength;
  for_cells(range, CELL(c) {
    const real x = share(c.i, release.first[0], release.last[0], release.head[0], release.tail[0]);
    const real y = share(c.j, release.first[1], release.last[1], release.head[1], release.tail[1]);
    const real z = share(c.k, release.first[2], release.last[2], release.head[2], release.tail[2]);
    q[c] += step * x * y * z;
  });
}
