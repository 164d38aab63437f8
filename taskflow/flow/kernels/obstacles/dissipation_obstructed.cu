// Dissipation beside bodies: of what friction in the equations takes there nothing is lost, and nothing counts twice.
#define UZ 1
#include "cell.h"
#include "../departure.h"
#include "../flags.h"

// What a face whose neighbour is buried feels of it beyond its difference to the 0 there: see momentum_obstructed.cu.
struct Steps {
  INLINE bool shut(int bits, int face) const { return closed(bits, face); }
  INLINE real across(int bits, int face, Axis b, int side) const {
    return bits & ITSELF && bits & 1 << face ? b.outer_at_wall(side) : real(0);
  }
  INLINE real on_face(Index, int) const { return 0; }
  INLINE One whole(Index, int) const { return {}; }
};
// What surfaces between the points of the grid take beyond that, on each face, and the velocity in its centre over that
// which is stored: see adherence.cu.
struct Surfaces {
  In stick[3], cover[3];
  INLINE bool shut(int bits, int face) const { return (bits & 1 << face) != 0; }  // and not on a wall
  INLINE real across(int, int, Axis, int) const { return 0; }
  INLINE real on_face(Index c, int axis) const { return stick[axis][c]; }
  INLINE real whole(Index c, int axis) const { return 1 + cover[axis][c]; }
};

// The squares of the derivatives of one component in a cell: half of those that each of its two faces has. A face that is
// open has half of that of its difference to one beside it, and all of it where that one is closed. Of two factors one is
// the stored velocity, which the flow carries, the other that in the centres of faces, which friction slows down.
template <class Bodies>
struct Squares {
  Departure q;
  int number;
  Axis along, first, second;
  InByte solid;
  Bodies bodies;

  INLINE real centre(Index c) const { return bodies.whole(c, number) * q.at(c); }

  INLINE real towards(Index c, int n, Axis b, int side) const {
    const int face = 2 * number + n, bits = solid[side ? c + b.step : c - b.step];
    const Index at = c + n * along.step, next = side ? at + b.step : at - b.step;
    const real here = q.at(at), true_here = centre(at), per_face = b.per_face(side);
    if (bodies.shut(bits, face)) return (b.per_cell() * per_face + bodies.across(bits, face, b, side)) * (here * true_here);
    return real(0.5) * ((per_face * (here - q.at(next))) * (per_face * (true_here - centre(next))));
  }
  INLINE real on_face(Index c, int n) const {
    if (bodies.shut(solid[c], 2 * number + n)) return 0;
    const Index at = c + n * along.step;
    const real sides = towards(c, n, first, 0) + towards(c, n, first, 1) + towards(c, n, second, 0) + towards(c, n, second, 1);
    return sides + bodies.on_face(at, number) * (q.at(at) * centre(at));
  }
  INLINE real in_cell(Index c) const {
    const Index next = c + along.step;
    return (along.per_cell() * (q.at(next) - q.at(c))) * (along.per_cell() * (centre(next) - centre(c)));
  }
  INLINE real at(Index c) const { return in_cell(c) + real(0.5) * (on_face(c, 0) + on_face(c, 1)); }
};

template <class Bodies>
FN void sample(const Range& range, Departure p, Departure q, Departure r, InByte solid, InOut rate, In64 share,
               const Grid& grid, real viscosity, const Bodies& bodies) {
  STRIDES(range)
  const real a = real(*share), rest = real(1 - *share);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const Squares<Bodies> u{p, 0, x, y, z, solid, bodies}, v{q, 1, y, x, z, solid, bodies}, w{r, 2, z, x, y, solid, bodies};
    rate[c] = rest * (rate[c] + a * viscosity * (u.at(c) + v.at(c) + w.at(c)));
  });
}

TASK dissipation_obstructed(Range range, In u, In v, In w, In mean_u, In mean_v, In mean_w, InByte solid, InOut rate,
                            In64 share, Grid grid, real viscosity) {
  sample(range, {u, mean_u}, {v, mean_v}, {w, mean_w}, solid, rate, share, grid, viscosity, Steps{});
}

TASK dissipation_immersed(Range range, In u, In v, In w, In mean_u, In mean_v, In mean_w, InByte solid, In stick_x,
                          In stick_y, In stick_z, In cover_x, In cover_y, In cover_z, InOut rate, In64 share, Grid grid,
                          real viscosity) {
  const Surfaces surfaces{{stick_x, stick_y, stick_z}, {cover_x, cover_y, cover_z}};
  sample(range, {u, mean_u}, {v, mean_v}, {w, mean_w}, solid, rate, share, grid, viscosity, surfaces);
}
