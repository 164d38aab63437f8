// The mean velocity of the fluid beside bodies: over the faces that are open, each counting as the volume around it.
#define UZ 1
#include "cell.h"
#include "../exact_sums.h"
#include "../flags.h"
#include "surfaces.h"

FN bool shut(const Cell& c, InByte solid, int number) { return closed(solid[c], 2 * number); }

// What bodies will yet make of a velocity: nothing else, or what surfaces do to it.
struct Stays {
  INLINE Adhered at(const Cell&) const { return {1, 0}; }
};
struct Slowed {
  Surface surface;
  InByte solid;
  Grid grid;
  real drag;
  int number;
  Index steps[3];

  INLINE Adhered at(const Cell& c) const {
    if (!(solid[c] & BESIDE)) return {1, 0};
    const Way ways[] = {way(grid, 0, c.i, steps[0]), way(grid, 1, c.j, steps[1]), way(grid, 2, c.k, steps[2])};
    return adhered(c, surface, ways[number], ways[number == 0 ? 1 : 0], ways[number == 2 ? 1 : 2], drag);
  }
};

// lack = sum over open faces of mean - (kept (q - dt dp/dx) + added), x being the direction of q; gain = that of kept
template <class Bodies>
FN void missing(const Range& range, In q, In p, InByte solid, const Partial (&sums)[6], In64 rate, In64 dt, const Grid& grid,
                Wanted wanted, const Bodies& bodies) {
  STRIDES(range)
  const int number = wanted.number;
  const Index S = number == 0 ? X : number == 1 ? Y : Z;
  const double step = *dt, mean = wanted.mean, most = wanted.unevenness;
  const double fastest = *rate * wanted.crossing, aim = magnitude(wanted.mean), bound = most * (fastest < aim ? aim : fastest);
  sum_cells(range, sums, CELL(c) {
    const int n = number == 0 ? c.i : number == 1 ? c.j : c.k;
    const double slope = axis(grid, number, n, S).per_face() * (p[c] - p[c - S]);
    const bool open = !shut(c, solid, number);
    const Adhered found = bodies.at(c);
    const double comes = double(found.kept) * (q[c] - step * slope) + found.added;
    const Sums<3> lack = cut(volume_on_face(grid, c, number) * (open ? mean - comes : 0.0), bound);
    const Sums<3> gain = cut(volume_on_face(grid, c, number) * (open ? double(found.kept) : 0.0), most);
    return Sums<6>{{lack.of[0], lack.of[1], lack.of[2], gain.of[0], gain.of[1], gain.of[2]}};
  });
}

#define SUMS {total, rest, last, total_gain, rest_gain, last_gain}

TASK missing_around_bodies(Range range, In q, In p, InByte solid, Partial total, Partial rest, Partial last,
                           Partial total_gain, Partial rest_gain, Partial last_gain, In64 rate, In64 dt, Grid grid,
                           Wanted wanted) {
  missing(range, q, p, solid, SUMS, rate, dt, grid, wanted, Stays{});
}

TASK missing_around_immersed(Range range, In q, In q_old, In p, InByte solid, In stick, In cover, Partial total,
                             Partial rest, Partial last, Partial total_gain, Partial rest_gain, Partial last_gain,
                             In64 rate, In64 dt, Grid grid, Wanted wanted, real viscosity) {
  STRIDES(range)
  const Slowed bodies{{q_old, stick, cover}, solid, grid, real(*dt) * viscosity, wanted.number, {X, Y, Z}};
  missing(range, q, p, solid, SUMS, rate, dt, grid, wanted, bodies);
}

// q = q + lack / gain where faces are open
TASK push_where_open(Range range, InOut q, InByte solid, In64 total, In64 rest, In64 last, In64 total_gain, In64 rest_gain,
                     In64 last_gain, int number) {
  const real push = real((*total + (*rest + *last)) / (*total_gain + (*rest_gain + *last_gain)));
  for_cells(range, CELL(c) { q[c] += shut(c, solid, number) ? real(0) : push; });
}
