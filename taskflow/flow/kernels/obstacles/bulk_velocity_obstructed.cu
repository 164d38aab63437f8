// The mean velocity of the fluid beside bodies: over the faces that are open, each counting as the volume around it.
#define UZ 1
#include "cell.h"
#include "../exact_sums.h"
#include "../flags.h"
#include "../metrics.h"

FN bool shut(const Cell& c, InByte solid, int number) { return closed(solid[c], 2 * number); }

// What bodies will yet leave of a velocity, as a share: all, or what friction at cut faces does not take.
struct Kept {
  INLINE double at(Index) const { return 1; }
};
struct Slowed {
  In stick;
  double drag;
  INLINE double at(Index c) const { return 1 / (1 + drag * stick[c]); }
};

// lack = sum over open faces of mean - left (q - dt dp/dx), x being the direction of q; gain = that of left
template <class Left>
FN void missing(const Range& range, In q, In p, InByte solid, const Partial (&sums)[6], In64 rate, In64 dt, const Grid& grid,
                Wanted wanted, Left left) {
  STRIDES(range)
  const int number = wanted.number;
  const Index S = number == 0 ? X : number == 1 ? Y : Z;
  const double step = *dt, mean = wanted.mean, most = wanted.unevenness;
  const double fastest = *rate * wanted.crossing, aim = magnitude(wanted.mean), bound = most * (fastest < aim ? aim : fastest);
  sum_cells(range, sums, CELL(c) {
    const int n = number == 0 ? c.i : number == 1 ? c.j : c.k;
    const double slope = axis(grid, number, n, S).per_face() * (p[c] - p[c - S]), stays = left.at(c);
    const bool open = !shut(c, solid, number);
    const Sums<3> lack = cut(volume_on_face(grid, c, number) * (open ? mean - stays * (q[c] - step * slope) : 0.0), bound);
    const Sums<3> gain = cut(volume_on_face(grid, c, number) * (open ? stays : 0.0), most);
    return Sums<6>{{lack.of[0], lack.of[1], lack.of[2], gain.of[0], gain.of[1], gain.of[2]}};
  });
}

#define SUMS {total, rest, last, total_gain, rest_gain, last_gain}

TASK missing_around_bodies(Range range, In q, In p, InByte solid, Partial total, Partial rest, Partial last,
                           Partial total_gain, Partial rest_gain, Partial last_gain, In64 rate, In64 dt, Grid grid,
                           Wanted wanted) {
  missing(range, q, p, solid, SUMS, rate, dt, grid, wanted, Kept{});
}

TASK missing_around_immersed(Range range, In q, In p, InByte solid, In stick, Partial total, Partial rest, Partial last,
                             Partial total_gain, Partial rest_gain, Partial last_gain, In64 rate, In64 dt, Grid grid,
                             Wanted wanted, real viscosity) {
  missing(range, q, p, solid, SUMS, rate, dt, grid, wanted, Slowed{stick, *dt * viscosity});
}

// q = q + lack / gain where faces are open
TASK push_where_open(Range range, InOut q, InByte solid, In64 total, In64 rest, In64 last, In64 total_gain, In64 rest_gain,
                     In64 last_gain, int number) {
  const real push = real((*total + (*rest + *last)) / (*total_gain + (*rest_gain + *last_gain)));
  for_cells(range, CELL(c) { q[c] += shut(c, solid, number) ? real(0) : push; });
}
