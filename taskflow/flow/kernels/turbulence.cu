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

#ifdef HAS_width_square
#define FILTERED
#endif
#include "closures/local.h"

// The square of the filter width, which van Driest's damping shortens beside smooth walls; None for closures that have no filter
template <class Walls>
FN None filtered(None, const Walls&, const Grid&, const Cell&, const Faces&, const Faces&) { return {}; }
FN real filtered(real width_square, None, const Grid& grid, const Cell& c, const Faces&, const Faces&) {
  return filter_square(grid, c) * width_square;
}
FN real filtered(real width_square, const SmoothWalls& walls, const Grid& grid, const Cell& c, const Faces& here, const Faces& above) {
  const Nearest wall = nearest(c, walls, grid);
  const real x = real(0.5) * here.u - wall.velocity[0], y = real(0.5) * here.v - wall.velocity[1];
  const real z = real(0.5) * (here.w + above.w) - wall.velocity[2];
  const real speed = root(square(x) + square(y) + square(z));
  const real damping = risen(wall_units(wall.distance * speed * walls.inverse_viscosity) * real(1.0 / 26));
  return filter_square(grid, c) * width_square * square(damping);
}

// The changes over one cell along the lines of the grid
FN Gradient changes(const Gradient& g, const Grid& grid, const Cell& c) {
  const real h[3] = {width(grid, 0, c.i), width(grid, 1, c.j), width(grid, 2, c.k)};
  Gradient change;
  for (int i = 0; i < 3; ++i)
    for (int m = 0; m < 3; ++m) change.of[i][m] = h[m] * g.of[i][m];
  return change;
}

#include "beside.h"

// nu_t in every cell, 0 in bodies; rate = max of |u|/dx + |v|/dy + |w|/dz, eddy = max of nu_t
TASK eddies(Range range, In u, In v, In w OPTIONAL(solid), Out nu_t, Partial rate, Partial eddy, Grid grid, Closure closure
            OPTIONAL(width_square) OPTIONAL(walls)) {
  STRIDES(range)
  max_cells(range, {rate, eddy}, CELL(c) { return faces(u, v, w, c, X, Y); }, BETWEEN(c, below, here, above) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const auto around = neighbours(flags_of(solid, c));
    const Gradient g = gradient(u, v, c, below, here, above, x, y, z, around);
    const auto filter = filtered(width_square, walls, grid, c, here, above);
    const real modelled = viscosity(closure, local(g, changes(g, grid, c), filter));
    const real value = around.solid() ? real(0) : modelled;
    nu_t[c] = value;
    const real across_x = fastest(here.u_low, here.u_high), across_y = fastest(here.v_low, here.v_high);
    return Maxima<2>{{crossings(across_x, across_y, fastest(here.w, above.w), x, y, z), value}};
  });
}
