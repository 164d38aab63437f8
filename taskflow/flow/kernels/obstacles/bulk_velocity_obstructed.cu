// The mean velocity of the fluid beside bodies: over the faces that are open.
#define UZ 1
#include "cell.h"
#include "../exact_sums.h"
#include "../flags.h"
#include "../metrics.h"

FN bool shut(const Cell& c, InByte solid, int number) { return closed(solid[c], 2 * number); }

// total + rest + last = sum of q - dt dp/dx over open faces, x being the direction of q; faces = how many these are
TASK open_faces_sum(Range range, In q, In p, InByte solid, Partial total, Partial rest, Partial last, Partial faces, In64 rate,
                    In64 dt, Grid grid, int number) {
  STRIDES(range)
  const Index S = number == 0 ? X : number == 1 ? Y : Z;
  const double step = *dt, bound = *rate * grid.spacing[number];
  sum_cells(range, {total, rest, last, faces}, CELL(c) {
    const int n = number == 0 ? c.i : number == 1 ? c.j : c.k;
    const double slope = axis(grid, number, n, S).per_face() * (p[c] - p[c - S]), projected = q[c] - step * slope;
    const bool open = !shut(c, solid, number);
    const Sums<3> parts = cut(open ? projected : 0.0, bound);
    return Sums<4>{{parts.of[0], parts.of[1], parts.of[2], open ? 1.0 : 0.0}};
  });
}

// q = q + mean - (total + rest + last) / faces where faces are open
TASK shift_open_to_mean(Range range, InOut q, InByte solid, In64 total, In64 rest, In64 last, In64 faces, real mean,
                        int number) {
  const real gain = real(mean - (*total + (*rest + *last)) / *faces);
  for_cells(range, CELL(c) { q[c] += shut(c, solid, number) ? real(0) : gain; });
}
