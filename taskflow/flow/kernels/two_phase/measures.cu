// What is measured of two phases: energies, and of one phase its volume, place, velocity and extent.
#define UZ 32
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"
#include "ahead.h"
#include "phases.h"

// Half the square of the velocity, with the mean of the squares on a cell's two faces
FN double half_square(In u, In v, In w, Index c, Index X, Index Y, Index Z) {
  const auto squares = [](In q, Index low, Index high) { return double(q[low]) * q[low] + double(q[high]) * q[high]; };
  return 0.25 * (squares(u, c, c + X) + squares(v, c, c + Y) + squares(w, c, c + Z));
}

// The share of a phase in a cell, 0 in solid ones
template <class Solid>
FN double share_of(int phase, In f, const Solid& solid, Index c) {
  return is_solid(solid, c) ? 0.0 : phase == 1 ? double(f[c]) : 1 - double(f[c]);
}

// energy = sums of rho |u|^2 / 2 and of -rho g.x over all cells, x from the low ends of the domain, u when f is the interface: it
// lags by 0.4 steps
TASK energy_of_phases(Range range, In f, In u, In v, In w, In u_old, In v_old, In w_old OPTIONAL(solid), PartialOf<2> energy,
                      Grid grid, Phases phases) {
  STRIDES(range)
  const auto squares = [](In q, In q_old, Index low, Index high) {
    const double a = ahead(q, q_old, low, real(-0.4)), b = ahead(q, q_old, high, real(-0.4));
    return a * a + b * b;
  };
  sum_cells(range, energy.of, CELL(c) {
    const double rho = is_solid(solid, c) ? 0.0 : double(density(phases, f[c]));
    const double x = centre(grid, 0, c.i), y = centre(grid, 1, c.j), z = centre(grid, 2, c.k);
    const double height = -(phases.gravity[0] * x + phases.gravity[1] * y + phases.gravity[2] * z);
    const double square = squares(u, u_old, c, c + X) + squares(v, v_old, c, c + Y) + squares(w, w_old, c, c + Z);
    return Sums<2>{{0.25 * rho * square, rho * height}};
  });
}

// sums = sums over cells of s, s x, s y, s z, s u, s v, s w and s |u|^2 / 2, s being the share of a phase
TASK phase_sums(Range range, In f, In u, In v, In w OPTIONAL(solid), ExactPartial<8> sums, In64 speed, Grid grid, int phase) {
  STRIDES(range)
  const double fast = *speed;
  const double x = centre(grid, 0, grid.cells[0]), y = centre(grid, 1, grid.cells[1]), z = centre(grid, 2, grid.cells[2]);
  exact_sum_cells(range, sums, Sums<8>{{1, x, y, z, fast, fast, fast, fast * fast}}, CELL(c) {
    const double s = share_of(phase, f, solid, c);
    const auto mean = [&](In q, Index step) { return 0.5 * (double(q[c]) + double(q[c + step])); };
    return Sums<8>{{s, s * centre(grid, 0, c.i), s * centre(grid, 1, c.j), s * centre(grid, 2, c.k), s * mean(u, X), s * mean(v, Y),
                    s * mean(w, Z), s * half_square(u, v, w, c, X, Y, Z)}};
  });
}

// end = max of sign x over the places along an axis where the share of a phase is 1/2, linear between centres, or where the
// domain ends in it, a body begins, or the cells that are looked at end, of which `last` is the last one
TASK phase_end(Range range, In f OPTIONAL(solid), Partial end, Grid grid, int phase, real sign, int last) {
  FRAME(range)
  const int neighbour = 2 * AXIS + (sign > 0);
  reduce_cells(range, end, MAX, CELL(c) {
    const auto share = [&](Index at) { return phase == 1 ? double(f[at]) : 1 - double(f[at]); };
    const int n = index(c, AXIS);
    const double here = is_solid(solid, c) ? 0.0 : share(c);
    if (here <= 0.5) return -double(INFINITE);
    const bool at_end = sign > 0 ? n == grid.cells[AXIS] - 1 : n == 0, ends = at_end || is_shut(flags_of(solid, c), neighbour);
    const double place = centre(grid, AXIS, n), far = sign > 0 ? centre(grid, AXIS, n + 1) : centre(grid, AXIS, n - 1);
    const double next = ends ? here : share(sign > 0 ? c + N : c - N);
    const double crossing = next <= 0.5 ? (here - 0.5) / (here - next) : n == last ? 0.5 : 0.0;
    const double part = ends || (n == last && crossing > 0.5) ? 0.5 : crossing;
    return double(sign) * (place + part * (far - place));
  });
}
