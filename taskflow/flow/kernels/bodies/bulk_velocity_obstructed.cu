// The mean velocity of the fluid around bodies: momentum on faces over the volume of the fluid.
#define UZ 1
#include "cell.h"
#include "../flags.h"
#include "surfaces.h"

FN bool shut(const Cell& c, InByte solid, int number) { return closed(solid[c], 2 * number); }

// Later effect of bodies on a velocity: none, or that of immersed surfaces.
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

FN Stays surfaces(None, None, None, InByte, const Grid&, In64, None, int, Index, Index, Index) { return {}; }
FN Slowed surfaces(In q_old, In friction, In blockage, InByte solid, const Grid& grid, In64 dt, real viscosity, int number,
                   Index X, Index Y, Index Z) {
  return {{q_old, friction, blockage}, solid, grid, real(*dt) * viscosity, number, {X, Y, Z}};
}

// Sums over all faces of mean, and over open ones of -(kept (q - dt dp/dx) + added), x being the direction of q, and of kept
TASK bulk_velocity_deficit(Range range, In q OPTIONAL(q_old), In p, InByte solid OPTIONAL(friction) OPTIONAL(blockage),
                           ExactPartial<2> missing, In64 rate, In64 dt, Grid grid, BulkVelocityTarget bulk OPTIONAL(viscosity)) {
  STRIDES(range)
  const int number = bulk.number;
  const auto bodies = surfaces(q_old, friction, blockage, solid, grid, dt, viscosity, number, X, Y, Z);
  const Index S = number == 0 ? X : number == 1 ? Y : Z;
  const double step = *dt, mean = bulk.mean, most = bulk.unevenness;
  const double fastest = *rate * bulk.crossing, aim = magnitude(bulk.mean);
  const Sums<2> bounds{{most * (fastest < aim ? aim : fastest), most}};
  exact_sum_cells(range, missing, bounds, CELL(c) {
    const int n = number == 0 ? c.i : number == 1 ? c.j : c.k;
    const double slope = axis(grid, number, n, S).per_face() * (p[c] - p[c - S]);
    const bool open = !shut(c, solid, number);
    const Adhered adhered = bodies.at(c);
    const double comes = double(adhered.kept) * (q[c] - step * slope) + adhered.added;
    const auto volume = volume_on_face(grid, c, number);
    return Sums<2>{{volume * (open ? mean - comes : mean), volume * (open ? double(adhered.kept) : 0.0)}};
  });
}

// q = q + missing / kept, of which bodies take a part
TASK apply_uniform_force(Range range, InOut q, ExactIn64<2> missing) {
  const real push = real(missing[0] / missing[1]);
  for_cells(range, CELL(c) { q[c] += push; });
}
