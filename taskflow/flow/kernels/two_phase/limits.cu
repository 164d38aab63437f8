// What bounds the next step besides its speed: how much friction changes on a face.
#define UZ 32
#define UNROLL 1
#define RESIDENT 2
#include "cell.h"
#include "friction.h"

// The sum of mu / h^2 over the two edges of a face on its low and its high side along an axis
FN real edges(In f, Index c, Index A, const Axis& b, const Phases& phases) {
  const real low = edge_viscosity(phases, f, c, A, b.step), high = edge_viscosity(phases, f, c + b.step, A, b.step);
  return b.per_cell() * b.per_cell() * (low + high);
}

FN real diffusion(In f, Index c, const Axis& a, const Axis& b, const Axis& d, const Phases& phases) {
  const Index A = a.step;
  const real ends = a.per_cell() * a.per_cell() * (viscosity(phases, f[c - A]) + viscosity(phases, f[c]));
  return (ends + edges(f, c, A, b, phases) + edges(f, c, A, d, phases)) / (density(phases, f[c - A]) + density(phases, f[c]));
}

// A cell's share, and whether cells beside it in its plane have the same: those that a cell below it reads, also those that one
// above it does, and all that it reads itself.
struct Shared {
  real f;
  bool below, above, here;
};
FN Shared shared(In f, Index c, Index X, Index Y) {
  const real own = f[c];
  const bool low = (f[c - X] == own) & (f[c - Y] == own), both = low & (f[c + X] == own) & (f[c + Y] == own);
  return {own, low, both, both & (f[c - X - Y] == own) & (f[c - X + Y] == own) & (f[c + X - Y] == own)};
}

// friction = max over faces of the sum of mu / h^2 over the six sides of their volumes, over twice their density, but for faces on
// boundaries, whose velocity no friction changes. Where all cells around hold one phase, as nearly everywhere, that is known at
// once.
TASK friction_rate(Range range, In f, Partial friction, Grid grid, Phases phases) {
  STRIDES(range)
  const real first = viscosity(phases, 1) / density(phases, 1), second = viscosity(phases, 0) / density(phases, 0);
  max_cells(range, {friction}, CELL(c) { return shared(f, c, X, Y); }, BETWEEN(c, below, here, above) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const bool same = here.here & below.above & above.below & (below.f == here.f) & (above.f == here.f);
    if (same & ((here.f == 0) | (here.f == 1))) {
      const real once = x.per_cell() * x.per_cell() + y.per_cell() * y.per_cell() + z.per_cell() * z.per_cell();
      return Maxima<1>{{(here.f == 1 ? first : second) * once}};
    }
    const auto rate = [&](int number, const Axis& a, const Axis& b, const Axis& d) __attribute__((always_inline)) {
      return index(c, number) == grid.first[number] ? real(0) : diffusion(f, c, a, b, d, phases);
    };
    return Maxima<1>{{larger(larger(rate(0, x, y, z), rate(1, y, z, x)), rate(2, z, x, y))}};
  });
}
