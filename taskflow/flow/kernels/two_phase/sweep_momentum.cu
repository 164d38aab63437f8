// Momentum that moves with the mass of a sweep along one axis.
#define UZ 1
#define BX 64
#define RESIDENT 5
#include "cell.h"
#include "../flags.h"
#include "carried.h"
#include "phases.h"

// The mass of cells before a sweep, and what passes their low faces in it, over the volume of a cell
struct Swept {
  In mass, flux, w;
  real step;
  Phases phases;
  INLINE real through(Index c) const {
    return phases.density_2 * (step * w[c]) + (phases.density_1 - phases.density_2) * flux[c];
  }
  // Of the volume between the centres of a cell and of that before it along B: its mass, and what passes its low side
  INLINE real held(Index c, Index B) const { return real(0.5) * (mass[c - B] + mass[c]); }
  INLINE real passing(Index c, Index B) const { return real(0.5) * (through(c - B) + through(c)); }
};

FN real positive(real a) { return a > 0 ? a : real(0); }

// What stays in a volume of what was there
FN real staying(real mass, real low, real high) { return positive(mass - (positive(high) + positive(-low))); }

// The velocity that passes a side with mass: the value upwind on a line with the slope of Koren's limiter, in the middle of what
// leaves. `part` is the share of the mass upwind that stays: less slope where little does keeps values between their neighbours.
FN real passed(const Row3& r, real part, bool ends) { return r.up + real(0.5) * part * limited(r.up - r.before, r.down - r.up, ends); }

// `own`: the velocity along the axis, between whose faces are cells; n counts cells before and behind its face
template <class C>
FN real moved(const Swept& swept, In q, const C& c, Index N, Index B, bool own, int number, int first, int last) {
  const Index A = N;
  const real u = q[c], mass = swept.held(c, B);
  const real low = swept.passing(c, B), high = swept.passing(c + A, B);
  const real lower = swept.passing(c - A, B), higher = swept.passing(c + 2 * A, B);
  const real before = swept.held(c - A, B), behind = swept.held(c + A, B);
  const auto part = [](real held, real below, real above) { return held > 0 ? staying(held, below, above) / held : real(0); };
  const real stays = part(mass, low, high);
  const int n = index(c, number);
  const auto value = [&](Index at, int side, bool forward, real stays_upwind) {
    const Row3 r = across_face(q, at, A, forward);
    const real mean = real(0.5) * (r.up + r.down);
    if (own) return either(forward, side - 1 == first, side - 1 == last) ? mean : passed(r, stays_upwind, false);
    const bool at_low = side == first, at_high = side == last + 1;
    const bool entering = either(forward, at_low, at_high), leaving = either(forward, at_high, at_low);
    return entering ? mean : leaving ? r.up : passed(r, stays_upwind, either(forward, side == first + 1, side == last));
  };
  const real from_low = value(c, n, low > 0, low > 0 ? part(before, lower, low) : stays);
  const real from_high = value(c + A, n + 1, high > 0, high > 0 ? stays : part(behind, high, higher));
  const real left = staying(mass, low, high), all = left + (positive(low) + positive(-high));
  const real gained = (low != 0 ? low * (from_low - u) : real(0)) - (high != 0 ? high * (from_high - u) : real(0));
  return all > 0 ? u + gained / all : u;
}

// q_new, r_new, s_new = the velocities along the axis and across it after a sweep: momentum over mass of the volumes around faces.
// Faces on boundaries and beyond, and of bodies, keep theirs.
TASK move_momentum(Range range, In q, In r, In s, In mass, In flux, In w OPTIONAL(faces), Out q_new, Out r_new, Out s_new,
                   In64 dt, Grid grid, Phases phases) {
  FRAME(range)
  const Swept swept{mass, flux, w, real(*dt) * axis(grid, AXIS, 0, N).per_cell(), phases};
  const int first = grid.first[AXIS], last = grid.last[AXIS];
  const auto outside = [=](int n, int number) {
    return ((grid.first[number] >= 0) & (n < grid.first[number])) | ((grid.last[number] >= 0) & (n > grid.last[number]));
  };
  for_cells(range, CELL(c) {
    const auto flags = flags_of(faces, c);
    const bool beyond = outside(c.i, 0) | outside(c.j, 1) | outside(c.k, 2);
    const auto next = [&](In velocity, int number, Index B) {
      const bool kept = beyond | (index(c, number) == grid.first[number]) | is_closed(flags, number);
      return kept ? velocity[c] : moved(swept, velocity, c, N, B, number == AXIS, AXIS, first, last);
    };
    const real along = next(q, AXIS, N), across = next(r, AXIS_R, R), third = next(s, AXIS_S, S);
    q_new[c] = along, r_new[c] = across, s_new[c] = third;
  });
}
