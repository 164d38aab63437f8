// The discrete Laplacian of the pressure on the grid itself, and Jacobi iteration for it. Across walls and closed faces of
// bodies the pressure has no gradient: the neighbour is replaced by the cell itself, and values outside are never used.
#include "star.h"
#include "../flags.h"
#include "../metrics.h"

// A cell's own value instead of the neighbour's across a closed face
FN real shown(real neighbour, real here, int solid, int n) { return closed(solid, n) ? here : neighbour; }

// The pressure around a cell with such flags, or without bodies
FN Star beside(const Star& p, None) { return p; }
FN Star beside(const Star& p, int solid) {
  return {p.here,
          {shown(p.low[0], p.here, solid, 0), shown(p.low[1], p.here, solid, 2), shown(p.low[2], p.here, solid, 4)},
          {shown(p.high[0], p.here, solid, 1), shown(p.high[1], p.here, solid, 3), shown(p.high[2], p.here, solid, 5)}};
}

// Sum of the two neighbours of a cell along one direction, with the cell itself across a wall.
FN real neighbours(const Star& p, int axis, bool low_wall, bool high_wall) {
  return (low_wall ? p.here : p.low[axis]) + (high_wall ? p.here : p.high[axis]);
}

#ifdef STRETCHED
// Contributions of the two neighbours along one direction, in cell n of it, and of the cell itself to the Laplacian
struct Pull {
  real around, diagonal;
};

FN Pull pull(const Star& p, int number, int n, const Grid& grid) {
  const Axis a = axis(grid, number, n, 0);
  const real low = n == grid.first[number] ? p.here : p.low[number], high = n == grid.last[number] ? p.here : p.high[number];
  return {a.per_cell() * (a.per_face(0) * low + a.per_face(1) * high), a.per_cell() * (a.per_face(0) + a.per_face(1))};
}

// div(grad p) along one direction, in cell n of it
FN real second_derivative(const Star& p, int number, int n, const Grid& grid) {
  const Axis a = axis(grid, number, n, 0);
  const real low = n == grid.first[number] ? p.here : p.low[number], high = n == grid.last[number] ? p.here : p.high[number];
  return a.second_derivative_in_cell(low, 2 * p.here, high);
}

struct Laplacian {
  Grid grid;
  INLINE Laplacian(const Grid& grid) : grid(grid) {}
  INLINE real at(const Star& p, Cell c) const {
    return second_derivative(p, 0, c.i, grid) + second_derivative(p, 1, c.j, grid) + second_derivative(p, 2, c.k, grid);
  }
};

// (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: the solution of the cell's own equation
template <class C>
FN real relaxed(const Star& p, C c, real rhs, const Grid& grid) {
  const Pull x = pull(p, 0, c.i, grid), y = pull(p, 1, c.j, grid), z = pull(p, 2, c.k, grid);
  return (x.around + y.around + z.around - rhs) / (x.diagonal + y.diagonal + z.diagonal);
}
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

// (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: the solution of the cell's own equation
template <class C>
FN real relaxed(const Star& p, C c, real rhs, const Grid& grid) {
  return (around(p, c, grid) - rhs) * grid.relaxation;
}
#endif

// (p + relaxed p) / 2
template <class C>
FN real half_relaxed(const Star& p, C c, real rhs, const Grid& grid) {
  return real(0.5) * (p.here + relaxed(p, c, rhs, grid));
}
