// Eddy viscosities of large-eddy simulation, from the velocity gradient in a cell; with them what bounds the next time
// step, since both read the same velocities.
#define UZ 64
#define UNROLL 2
#define RESIDENT (sizeof(real) == 4 ? 4 : 1)
#define BX 64
#define BY 4
#include "cell.h"
#include "crossing.h"
#include "damping.h"
#include "flags.h"
#include "gradient.h"

// nu_t = mixing |S|, mixing being the square of the mixing length, on stretched grids that of a filter of width 1
struct Strained {
  real mixing;
  Grid grid;
  INLINE real at(const Gradient& g, const Cell& c, const Faces&, const Faces&) const {
    return filter_square(grid, c) * strained(mixing, g);
  }
};

// The same with a mixing length that van Driest's damping shortens.
struct Damped {
  real mixing;
  SmoothWalls walls;
  Grid grid;

  INLINE real at(const Gradient& g, const Cell& c, const Faces& here, const Faces& above) const {
    const Nearest wall = nearest(c, walls, grid);
    const real x = real(0.5) * here.u - wall.velocity[0], y = real(0.5) * here.v - wall.velocity[1];
    const real z = real(0.5) * (here.w + above.w) - wall.velocity[2];
    const real speed = root(square(x) + square(y) + square(z));
    const real damping = risen(wall_units(wall.distance * speed * walls.inverse_viscosity) * real(1.0 / 26));
    return filter_square(grid, c) * (mixing * square(damping) * root(strain(g)));
  }
};

// nu_t = mixing b^6 / (a^5 + b^5), see `adapting`
struct Adapting {
  real mixing;
  Grid grid;
  INLINE real at(const Gradient& g, const Cell& c, const Faces&, const Faces&) const {
    return filter_square(grid, c) * adapting(mixing, g);
  }
};

// nu_t = constant (B / (alpha_ij alpha_ij))^(1/2): alpha is the gradient; B, the second invariant of the matrix beta of the
// paper, is the sum of the squares of the minors of the gradient times the size of the cell (Cauchy and Binet), which
// loses no digits where B is 0.
struct Vanishing {
  real constant;
  Grid grid;

  INLINE real at(const Gradient& g, const Cell& c, const Faces&, const Faces&) const {
    const real h[3] = {width(grid, 0, c.i), width(grid, 1, c.j), width(grid, 2, c.k)};
    real B = 0;
    for (int m = 0; m < 3; ++m) B += square(h[m] * h[m == 2 ? 0 : m + 1]) * minors(g, m);
    return vanishing(constant, B, g);
  }
};

FN Strained lengths(real mixing, None, const Grid& grid) { return {mixing, grid}; }
FN Damped lengths(real mixing, const SmoothWalls& walls, const Grid& grid) { return {mixing, walls, grid}; }

// The neighbours of a cell that are in a body
struct Beside {
  int bits;
  INLINE real seen(int n, real neighbour, real own) const { return closed(bits, n) ? -own : neighbour; }
  INLINE real per_two_cells(Axis a, int axis) const {
    return a.per_two_cells(closed(bits, 2 * axis), closed(bits, 2 * axis + 1));
  }
  INLINE bool solid() const { return (bits & ITSELF) != 0; }
};
FN Fluids neighbours(None) { return {}; }
FN Beside neighbours(int bits) { return {bits}; }

// nu_t in every cell, 0 in bodies; rate = max of |u|/dx + |v|/dy + |w|/dz, eddy = max of nu_t
template <class Solid, class Model>
FN void evaluate(const Range& range, In u, In v, In w, Solid solid, Out nu_t, Partial rate, Partial eddy, const Grid& grid,
                 Model model) {
  STRIDES(range)
  max_cells(range, {rate, eddy}, CELL(c) { return faces(u, v, w, c, X, Y); }, BETWEEN(c, below, here, above) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const auto around = neighbours(flags_of(solid, c));
    const real modelled = model.at(gradient(u, v, c, below, here, above, x, y, z, around), c, here, above);
    const real value = around.solid() ? real(0) : modelled;
    nu_t[c] = value;
    const real across_x = fastest(here.u_low, here.u_high), across_y = fastest(here.v_low, here.v_high);
    return Maxima<2>{{crossings(across_x, across_y, fastest(here.w, above.w), x, y, z), value}};
  });
}

TASK smagorinsky(Range range, In u, In v, In w OPTIONAL(solid), Out nu_t, Partial rate, Partial eddy, Grid grid,
                 real mixing OPTIONAL(walls)) {
  evaluate(range, u, v, w, solid, nu_t, rate, eddy, grid, lengths(mixing, walls, grid));
}

TASK wale(Range range, In u, In v, In w OPTIONAL(solid), Out nu_t, Partial rate, Partial eddy, Grid grid, real mixing) {
  evaluate(range, u, v, w, solid, nu_t, rate, eddy, grid, Adapting{mixing, grid});
}

TASK vreman(Range range, In u, In v, In w OPTIONAL(solid), Out nu_t, Partial rate, Partial eddy, Grid grid, real constant) {
  evaluate(range, u, v, w, solid, nu_t, rate, eddy, grid, Vanishing{constant, grid});
}
