// Particles advected by the flow: each is a point of a region of slots, with one plane of slots per block. `number` is one more
// than its own, 0 in an empty slot, and negative after the particle left for another block.
#include "cell.h"

#ifdef GPU
#define NAN64 __longlong_as_double(0x7ff8000000000000LL)
#else
#define NAN64 __builtin_nan("")
#endif

// The cell that contains a position along an axis, and the distance from its low face over the width of the cell
struct Inside {
  int cell;
  double share;
};
FN Inside inside(const Extent& e, int axis, double x) {
  const int last = e.cells[axis] - 1;
  if (e.even[axis]) {
    const double s = (x - e.low[axis]) / e.spacing[axis];
    const int cell = s < 0 ? 0 : s > last ? last : int(s);
    return {cell, s - cell};
  }
  const double* face = e.faces[axis];
  int low = 0, high = last + 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (x < face[middle]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return {low, (x - face[low]) / (face[low + 1] - face[low])};
}

// A position between two values along an axis: the number of the first, and the distance from it over their distance
struct Between {
  int first;
  double share;
};
FN Between between_centres(const Extent& e, int axis, double x, Inside in) {
  if (e.even[axis]) {
    return in.share < 0.5 ? Between{in.cell - 1, in.share + 0.5} : Between{in.cell, in.share - 0.5};
  }
  const double* face = e.faces[axis];
  const int n = x < 0.5 * (face[in.cell] + face[in.cell + 1]) ? in.cell - 1 : in.cell;
  const double before = 0.5 * (face[n] + face[n + 1]), behind = 0.5 * (face[n + 1] + face[n + 2]);
  return {n, (x - before) / (behind - before)};
}

// The boundary value between a boundary and the adjacent centre
FN Between within(const Extent& e, int axis, Between b) {
  const int last = e.cells[axis] - 1;
  if (e.periodic[axis]) return b;
  if (b.first < 0) return {0, 0.0};
  return b.first < last ? b : last > 0 ? Between{last - 1, 1.0} : Between{0, 0.0};
}

FN double mean(double low, double high, double share) { return (1.0 - share) * low + share * high; }

template <class Number>
FN double linear(const ForeignOf<Number>& q, Between x, Between y, Between z) {
  const int i = x.first, j = y.first, k = z.first;
  const double a = mean(at(q, i, j, k), at(q, i + 1, j, k), x.share);
  const double b = mean(at(q, i, j + 1, k), at(q, i + 1, j + 1, k), x.share);
  const double c = mean(at(q, i, j, k + 1), at(q, i + 1, j, k + 1), x.share);
  const double d = mean(at(q, i, j + 1, k + 1), at(q, i + 1, j + 1, k + 1), x.share);
  return mean(mean(a, b, y.share), mean(c, d, y.share), z.share);
}

// Whether a particle leaves through a face across an axis, from this cell, by its number along the axis
RARE_FN bool leaves(const Extent& e, int axis, bool up, int face, const int (&cell)[3]) {
  const int first = axis == 0, second = axis == 2 ? 1 : 2;
  for (int n = 0; n < e.count; ++n) {
    const real* exit = e.exits + 6 * n;
    const bool here = exit[0] == 2 * axis + up && exit[1] == face;
    if (here && cell[first] >= exit[2] && cell[first] <= exit[3] && cell[second] >= exit[4] && cell[second] <= exit[5]) return true;
  }
  return false;
}

// A place after a move, where it may be: round a periodic direction, mirrored at a wall, NaN beyond an open part of a side
FN double contained(const Extent& e, int axis, double x, const int (&cell)[3]) {
  const double low = e.low[axis], high = e.high[axis], length = e.length[axis];
  if (e.periodic[axis]) {
    const double turns = (x - low) / length, whole = turns < 0 || turns >= 1 ? double(Index(turns)) - (turns < 0) : 0;
    const double back = x - length * whole;
    return back >= low && back < high ? back : back == back ? low : back;
  }
  const bool up = x > high;
  if ((up || x < low) && leaves(e, axis, up, up ? e.cells[axis] : 0, cell)) return NAN64;
  const double back = x < low ? low - (x - low) : x > high ? high - (x - high) : x;
  return back < low ? low : back > high ? high : back;
}

// End of a path along an axis from x to `next`, with bodies as obstacles, whose flags are in `solid` (flags.h). At most one
// face is crossed. `cell` is the cell of the particle, and is updated. No path ends closer to a face than NEAR cells, so
// rounding never moves its end into another cell.
constexpr double NEAR = 1e-9;
FN double face_of(const Extent& e, int axis, int n) { return e.even[axis] ? e.low[axis] + e.spacing[axis] * n : double(e.faces[axis][n]); }
FN double led(None, const Extent&, int, int (&)[3], double, double next, bool&) { return next; }
FN double led(const ForeignOf<unsigned char>& solid, const Extent& e, int axis, int (&cell)[3], double x, double next,
              bool& mirrored) {
  const bool up = next > x;
  for (int passed = 0; passed < 2; ++passed) {
    const int n = cell[axis];
    const double low = face_of(e, axis, n), high = face_of(e, axis, n + 1), off = NEAR * (high - low);
    const double least = low + off, most = high - off;
    if (up ? next < high : next >= low) return next < least ? least : next > most ? most : next;
    const bool side = !e.periodic[axis] && n == (up ? e.cells[axis] - 1 : 0);
    if ((side || e.exits_in_bodies) && leaves(e, axis, up, n + up, cell)) return NAN64;
    if (side || passed || (int(at(solid, cell[0], cell[1], cell[2])) >> (2 * axis + up) & 1)) {
      const double face = up ? high : low, back = face - (next - face);
      mirrored = !passed || side;
      return passed && !side ? (up ? most : least) : back < least ? least : back > most ? most : back;
    }
    cell[axis] += up ? 1 : -1;
  }
  return next;
}

// Motion of a particle along an axis in a step, with the velocity of the surrounding fluid at its beginning, and `past` one
// step before: with the fluid, or with its own velocity, which is given (NaN: equal to the fluid).
struct Weights {
  double now, then;
};
FN double way(const Weights& w, double velocity, double past, int, None, None, None) { return w.now * velocity - w.then * past; }
template <class Heavy>
FN double way(const Weights& w, double velocity, double past, int axis, double& own, double gain, const Heavy& inertia) {
  const double dt = w.now - w.then, change = 2 * w.then / dt * (velocity - past);
  const double goal = velocity + inertia.settling[axis] - change * (inertia.time / dt);
  const double lag = goal - (own == own ? own : velocity);
  own = goal - lag + (lag * gain + change);
  return goal * dt - lag * (inertia.time * gain) + 0.5 * change * dt;
}

template <class U, class V, class W, class Solid, class Own, class Gain, class Heavy>
FN void carried(const Cell& c, const InOutValues<3>& position, const InOutValues<3>& before, InOut number, const Own& own, const U& u,
                const V& v, const W& w, const Solid& solid, const Weights& weights, const Gain& gain, const Extent& e,
                const Heavy& inertia) {
  double x[3], velocity[3];
  Between face[3], centre[3];
  int cell[3];
  for (int a = 0; a < 3; ++a) {
    x[a] = position(c, a);
    const Inside in = inside(e, a, x[a]);
    cell[a] = in.cell;
    face[a] = {in.cell, in.share};
    centre[a] = between_centres(e, a, x[a], in);
  }
  velocity[0] = linear(u, face[0], centre[1], centre[2]);
  velocity[1] = linear(v, centre[0], face[1], centre[2]);
  velocity[2] = linear(w, centre[0], centre[1], face[2]);
  for (int a = 0; a < 3; ++a) {
    const double last = before(c, a), past = last == last ? last : velocity[a];
    if constexpr (present<Own>) {
      double mine = own(c, a);
      bool mirrored = false;
      const double straight = x[a] + way(weights, velocity[a], past, a, mine, *gain, inertia);
      const double next = led(solid, e, a, cell, x[a], straight, mirrored);
      mirrored |= !e.periodic[a] && (next < e.low[a] || next > e.high[a]);
      own(c, a) = mirrored ? -mine : mine;  // mirrored particles rebound
      x[a] = contained(e, a, next, cell);
    } else {
      bool mirrored = false;
      const double straight = x[a] + way(weights, velocity[a], past, a, own, gain, inertia);
      const double next = led(solid, e, a, cell, x[a], straight, mirrored);
      x[a] = contained(e, a, next, cell);
    }
    before(c, a) = velocity[a];
  }
  const bool gone = (x[0] != x[0]) | (x[1] != x[1]) | (x[2] != x[2]);
  for (int a = 0; a < 3; ++a) position(c, a) = gone ? NAN64 : x[a];
  if (gone) number[c] = 0;
}

TASK carry(Range range, InOutValues<3> position, InOutValues<3> before, InOut number OPTIONAL(own), ForeignOf<Real_u> u,
           ForeignOf<Real_v> v, ForeignOf<Real_w> w OPTIONAL(solid), In64 now, In64 then OPTIONAL(gain),
           Extent extent OPTIONAL(inertia)) {
  const Weights weights = {*now, *then};
  for_cells(range, CELL(c) {
    if (number[c] > 0) carried(c, position, before, number, own, u, v, w, solid, weights, gain, extent, inertia);
  });
}

TASK carry_between(Range range, InOutValues<3> position, InOutValues<3> before, InOut number OPTIONAL(own), ForeignOf<Real_u> u,
                   ForeignOf<Real_v> v, ForeignOf<Real_w> w OPTIONAL(solid), In64 now, In64 then OPTIONAL(gain), Partial leaving,
                   Extent extent, Decomposition blocks OPTIONAL(inertia)) {
  const Weights weights = {*now, *then};
  reduce_cells(range, leaving, SUM, CELL(c) {
    if (number[c] > 0) carried(c, position, before, number, own, u, v, w, solid, weights, gain, extent, inertia);
    bool here = true;
    for (int axis = 0; axis < 3 && number[c] > 0; ++axis) {
      const int n = c.k / blocks.before[axis] % blocks.shape[axis], cell = inside(extent, axis, position(c, axis)).cell;
      here = here && cell >= blocks.cuts[axis][n] && cell < blocks.cuts[axis][n + 1];
    }
    if (!here) number[c] = -number[c];
    return here ? 0.0 : 1.0;
  });
}

TASK sample(Range range, InValues<3> position, In number, Out value, ForeignOf<Real_q> q, Extent extent, int across) {
  for_cells(range, CELL(c) {
    double between = NAN64;
    if (number[c] > 0) {
      Between at[3];
      for (int a = 0; a < 3; ++a) {
        const double x = position(c, a);
        const Inside in = inside(extent, a, x);
        const Between centres = between_centres(extent, a, x, in);
        at[a] = across == a ? Between{in.cell, in.share} : across < 0 ? within(extent, a, centres) : centres;
      }
      between = linear(q, at[0], at[1], at[2]);
    }
    value[c] = between;
  });
}
