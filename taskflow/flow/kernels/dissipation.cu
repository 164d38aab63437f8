// Dissipation of turbulent kinetic energy by the friction terms of the equations. Next to bodies nothing is lost or counted
// twice.
#define UZ 1
#include "cell.h"
#include "flags.h"
#include "metrics.h"

// A velocity less its mean, on its faces
struct Departure {
  In q, mean;
  INLINE real at(Index c) const { return q[c] - mean[c]; }
  // The square of its derivative along itself, in the cell
  INLINE real square_along(Index c, Axis a) const {
    const real rise = a.per_cell() * (at(c + a.step) - at(c));
    return rise * rise;
  }
  // Of that along b the mean of the squares on the four edges of the cell
  INLINE real square_across(Index c, Axis a, Axis b) const {
    const real low = b.per_face(0), high = b.per_face(1);
    const real first = low * (at(c) - at(c - b.step)), second = low * (at(c + a.step) - at(c + a.step - b.step));
    const real third = high * (at(c + b.step) - at(c)), fourth = high * (at(c + a.step + b.step) - at(c + a.step));
    return real(0.25) * (first * first + second * second + third * third + fourth * fourth);
  }
};

// The squares of the derivatives of all components in a cell
FN real squares(Departure p, Departure q, Departure r, Index c, Axis x, Axis y, Axis z, None, None) {
  return p.square_along(c, x) + p.square_across(c, x, y) + p.square_across(c, x, z) + q.square_along(c, y) +
         q.square_across(c, y, x) + q.square_across(c, y, z) + r.square_along(c, z) + r.square_across(c, z, x) +
         r.square_across(c, z, y);
}

// Excess friction of a face with a solid neighbour over its difference to the stored 0: see momentum.cu
struct Steps {
  INLINE bool shut(int bits, int face) const { return closed(bits, face); }
  INLINE real across(int bits, int face, Axis b, int side) const {
    return bits & ITSELF && bits & 1 << face ? b.divergence_at_wall(side) : real(0);
  }
  INLINE real on_face(Index, int) const { return 0; }
  INLINE One whole(Index, int) const { return {}; }
};
// Additional friction of immersed surfaces on each face, and the velocity at its centre over the stored one: see
// bodies/adherence.cu
struct Surfaces {
  In friction[3], blockage[3];
  INLINE bool shut(int bits, int face) const { return (bits & 1 << face) != 0; }  // and not on a wall
  INLINE real across(int, int, Axis, int) const { return 0; }
  INLINE real on_face(Index c, int axis) const { return friction[axis][c]; }
  INLINE real whole(Index c, int axis) const { return 1 + blockage[axis][c]; }
};

FN Steps bodies_of(InByte, None, None, None, None, None, None) { return {}; }
FN Surfaces bodies_of(InByte, In friction_x, In friction_y, In friction_z, In blockage_x, In blockage_y, In blockage_z) {
  return {{friction_x, friction_y, friction_z}, {blockage_x, blockage_y, blockage_z}};
}
FN None bodies_of(None, None, None, None, None, None, None) { return {}; }

// Next to bodies, for one component: half of the sum of both faces. An open face has half of the squared difference to an
// adjacent face, and all of it if that face is closed. One factor is the stored velocity, which the flow advects, the other the
// velocity at face centres, which friction slows down.
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
FN real squares(Departure p, Departure q, Departure r, Index c, Axis x, Axis y, Axis z, InByte solid, const Bodies& bodies) {
  const Squares<Bodies> u{p, 0, x, y, z, solid, bodies}, v{q, 1, y, x, z, solid, bodies}, w{r, 2, z, x, y, solid, bodies};
  return u.at(c) + v.at(c) + w.at(c);
}

// viscosity <(du'_i/dx_j)^2> with one more sample, given the previous means
TASK dissipation(Range range, In u, In v, In w, In mean_u, In mean_v, In mean_w OPTIONAL(solid) OPTIONAL(friction_x)
                 OPTIONAL(friction_y) OPTIONAL(friction_z) OPTIONAL(blockage_x) OPTIONAL(blockage_y) OPTIONAL(blockage_z),
                 InOut rate, In64 share, Grid grid, real viscosity) {
  STRIDES(range)
  const real a = real(*share), rest = real(1 - *share);
  const auto bodies = bodies_of(solid, friction_x, friction_y, friction_z, blockage_x, blockage_y, blockage_z);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const Departure p{u, mean_u}, q{v, mean_v}, r{w, mean_w};
    rate[c] = rest * (rate[c] + a * viscosity * squares(p, q, r, c, x, y, z, solid, bodies));
  });
}
