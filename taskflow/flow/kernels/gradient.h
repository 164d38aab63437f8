// The velocity gradient at the centre of a cell of a staggered grid.
#include "eddies.h"
#include "metrics.h"

// Data on the faces of a cell that the cells below and above share: u and v across x and y, low and high, and their sums;
// across z, on the low face only, w and its neighbours.
struct Faces {
  real u_low, u_high, u, v_low, v_high, v;
  real w, w_west, w_east, w_south, w_north;
};

FN Faces faces(In u, In v, In w, Index c, Index X, Index Y) {
  const real u_low = u[c], u_high = u[c + X], v_low = v[c], v_high = v[c + Y];
  return {u_low, u_high, u_low + u_high, v_low, v_high, v_low + v_high, w[c], w[c - X], w[c + X], w[c - Y], w[c + Y]};
}

// Neighbours of a cell in a body: none. Those in a body act like ghost cells of a wall: on both faces together, the velocity is
// minus that of the cell.
struct Fluids {
  INLINE real seen(int, real neighbour, real) const { return neighbour; }
  INLINE real per_two_cells(Axis a, int) const { return a.per_two_cells(); }
  INLINE bool solid() const { return false; }
};

FN real twice(In q, Index c, Index own) { return q[c] + q[c + own]; }

template <class Neighbours>
FN Gradient gradient(In u, In v, Index c, const Faces& below, const Faces& here, const Faces& above, Axis x, Axis y, Axis z,
                     const Neighbours& around) {
  const real half_x = real(0.5) * around.per_two_cells(x, 0), half_y = real(0.5) * around.per_two_cells(y, 1);
  const real half_z = real(0.5) * around.per_two_cells(z, 2);
  const Index X = x.step, Y = y.step;
  const real w = here.w + above.w;
  // from the low to the high neighbour across x, y or z, of twice the mean on both faces of each
  const auto rise = [&](real own, real low, real high, int axis) __attribute__((always_inline)) {
    return around.seen(2 * axis + 1, high, own) - around.seen(2 * axis, low, own);
  };
  return {{{x.per_cell() * (here.u_high - here.u_low),
            half_y * rise(here.u, twice(u, c - Y, X), twice(u, c + Y, X), 1), half_z * rise(here.u, below.u, above.u, 2)},
           {half_x * rise(here.v, twice(v, c - X, Y), twice(v, c + X, Y), 0),
            y.per_cell() * (here.v_high - here.v_low), half_z * rise(here.v, below.v, above.v, 2)},
           {half_x * rise(w, here.w_west + above.w_west, here.w_east + above.w_east, 0),
            half_y * rise(w, here.w_south + above.w_south, here.w_north + above.w_north, 1),
            z.per_cell() * (above.w - here.w)}}};
}
