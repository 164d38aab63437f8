// Releases of boxes into the flow.
#define UZ 1
#include "cell.h"
#include "../flags.h"

// The share of a cell that lies in a box, along one direction.
FN real share(int n, int first, int last, real head, real tail) { return n == first ? head : n == last ? tail : real(1); }

// The share of a cell that lies in the box of a source.
FN real share(const Cell& c, const Release& r) {
  const real x = share(c.i, r.first[0], r.last[0], r.head[0], r.tail[0]);
  const real y = share(c.j, r.first[1], r.last[1], r.head[1], r.tail[1]);
  return x * y * share(c.k, r.first[2], r.last[2], r.head[2], r.tail[2]);
}

// q += dt strength (share of the cell), but in solid cells
TASK release(Range range, InOut q OPTIONAL(q_faces), In64 dt, Release release) {
  const real step = real(*dt) * release.strength;
  for_cells(range, CELL(c) { q[c] += is_kept(flags_of(q_faces, c)) ? real(0) : step * share(c, release); });
}

// The same with a rate that changes in time
TASK release_timed(Range range, InOut q OPTIONAL(q_faces), In64 dt, In64 rate, Release release) {
  const real step = real(*dt * *rate) * release.strength;
  for_cells(range, CELL(c) { q[c] += is_kept(flags_of(q_faces, c)) ? real(0) : step * share(c, release); });
}
