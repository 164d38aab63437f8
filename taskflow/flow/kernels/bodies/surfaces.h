// Surfaces of immersed bodies between the points of the grid: what they do to one component of the velocity. See
// taskflow/flow/bodies/immersed.py.
#include "../metrics.h"

// A direction at a cell: whether the cell is the first or the last one, next to a wall
struct Way {
  Axis axis;
  bool first, last;
};

FN Way way(const Grid& grid, int number, int n, Index step) {
  return {axis(grid, number, n, step), n == grid.first[number], n == grid.last[number]};
}

// Velocities q as stored on cut faces, relative to the body: `blockage` (1 / open share - 1) times q is the difference to the
// velocity at face centres. Q is an array, or has the interface of one.
template <class Q>
struct SurfaceIn {
  Q q;
  In friction, blockage;

  INLINE real missing(Index c) const { return blockage[c] * q[c]; }

  // Viscous flux of this into a face from its neighbours, over viscosity; zero through walls.
  INLINE real along(Index c, const Way& a) const {
    const real high = a.last ? real(0) : a.axis.gradient_in_cell(0) * missing(c + a.axis.step);
    return a.axis.divergence_on_face() * (a.axis.gradient_in_cell(-1) * missing(c - a.axis.step) + high);
  }
  INLINE real across(Index c, const Way& b) const {
    const real low = b.first ? real(0) : b.axis.gradient_on_face(0) * missing(c - b.axis.step);
    const real high = b.last ? real(0) : b.axis.gradient_on_face(1) * missing(c + b.axis.step);
    return b.axis.divergence_in_cell() * (low + high);
  }
  INLINE real brought(Index c, const Way& a, const Way& b, const Way& d) const {
    return along(c, a) + across(c, b) + across(c, d);
  }
};
using Surface = SurfaceIn<In>;

// Viscous flux out of a face to its neighbours, over viscosity and the velocity there
FN real spread_across(const Way& b) {
  const real low = b.axis.gradient_on_face(0) * real(!b.first), high = b.axis.gradient_on_face(1) * real(!b.last);
  return b.axis.divergence_in_cell() * (low + high);
}
FN real spread(const Way& a, const Way& b, const Way& d) {
  const real along = a.axis.gradient_in_cell(-1) * real(1) + a.axis.gradient_in_cell(0) * real(1);
  return a.axis.divergence_on_face() * along + spread_across(b) + spread_across(d);
}

// A predicted velocity q after a step with the last pressure: kept (q - push) + added, push = dt dp/da.
struct Adhered {
  real kept, added;
};

// On an open face; drag = dt viscosity, `at.q` are the velocities before the step.
FN Adhered adhered(Index c, const Surface& at, const Way& a, const Way& b, const Way& d, real drag) {
  const real open = 1 / (1 + at.blockage[c]), shut = 1 - open;
  const real left = 1 / (1 + drag * (at.friction[c] + shut * spread(a, b, d))), kept = open * left;
  return {kept, kept * (drag * at.brought(c, a, b, d)) + left * shut * at.q[c]};
}
