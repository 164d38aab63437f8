// The discrete Laplacian of the pressure. Across walls the pressure has no gradient: there the neighbour is replaced by
// the cell itself, and what lies beyond is never used.
#include "star.h"
#include "../metrics.h"

// The two neighbours of a cell along one direction added up; a wall shows the cell its own value.
FN real neighbours(const Star& p, int axis, bool low_wall, bool high_wall) {
  return (low_wall ? p.here : p.low[axis]) + (high_wall ? p.here : p.high[axis]);
}

#ifdef STRETCHED
// What the two neighbours of a cell along one direction, in cell n of it, add to the Laplacian, and what the cell itself does
struct Pull {
  real around, diagonal;
};

FN Pull pull(const Star& p, int number, int n, const Grid& grid) {
  const Axis a = axis(grid, number, n, 0);
  const real low = n == grid.first[number] ? p.here : p.low[number], high = n == grid.last[number] ? p.here : p.high[number];
  return {a.per_cell() * (a.per_face(0) * low + a.per_face(1) * high), a.per_cell() * (a.per_face(0) + a.per_face(1))};
}

// div(grad p) along one direction, in cell n of it
FN real bend(const Star& p, int number, int n, const Grid& grid) {
  const Axis a = axis(grid, number, n, 0);
  const real low = n == grid.first[number] ? p.here : p.low[number], high = n == grid.last[number] ? p.here : p.high[number];
  return a.bend_in_cells(low, 2 * p.here, high);
}

struct Laplacian {
  Grid grid;
  INLINE Laplacian(const Grid& grid) : grid(grid) {}
  INLINE real at(const Star& p, Cell c) const { return bend(p, 0, c.i, grid) + bend(p, 1, c.j, grid) + bend(p, 2, c.k, grid); }
};
#else
// a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T), with a = 1 / h^2
template <class C>
FN real around(const Star& p, C c, const Grid& grid) {
  const real ax = grid.inverse[0] * grid.inverse[0], ay = grid.inverse[1] * grid.inverse[1];
  const real az = grid.inverse[2] * grid.inverse[2];
  const real x = neighbours(p, 0, !C::amid && c.i == grid.first[0], !C::amid && c.i == grid.last[0]);
  const real y = neighbours(p, 1, !C::amid && c.j == grid.first[1], !C::amid && c.j == grid.last[1]);
  const real z = neighbours(p, 2, c.k == grid.first[2], c.k == grid.last[2]);
  return ax * x + ay * y + az * z;
}

struct Laplacian {
  Grid grid;
  real diagonal;
  INLINE Laplacian(const Grid& grid) : grid(grid), diagonal(1 / grid.relaxation) {}
  INLINE real at(const Star& p, Cell c) const { return around(p, c, grid) - diagonal * p.here; }
};
#endif
