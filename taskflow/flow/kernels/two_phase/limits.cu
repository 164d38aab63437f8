// What bounds the next step besides its speed: how much friction changes on a face.
#define UZ 32
#include "cell.h"
#include "../metrics.h"
#include "phases.h"

// mu on the four edges of a low face, along an axis from the low to the high one: twice their sum over the square of the spacing
FN real edges(In f, Index c, Index A, const Axis& b, const Phases& phases) {
  const auto mu = [&](Index at) __attribute__((always_inline)) {
    return viscosity(phases, real(0.25) * ((f[at] + f[at - (A + b.step)]) + (f[at - A] + f[at - b.step])));
  };
  return b.per_cell() * b.per_cell() * (mu(c) + mu(c + b.step));
}

FN real diffusion(In f, Index c, const Axis& a, const Axis& b, const Axis& d, const Phases& phases) {
  const Index A = a.step;
  const real ends = a.per_cell() * a.per_cell() * (viscosity(phases, f[c - A]) + viscosity(phases, f[c]));
  return (ends + edges(f, c, A, b, phases) + edges(f, c, A, d, phases)) / (density(phases, f[c - A]) + density(phases, f[c]));
}

// friction = max over faces of the sum of mu / h^2 over the six sides of their volumes, over twice their density
TASK friction_rate(Range range, In f, Partial friction, Grid grid, Phases phases) {
  STRIDES(range)
  reduce_cells(range, friction, MAX, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    return larger(larger(diffusion(f, c, x, y, z, phases), diffusion(f, c, y, z, x, phases)), diffusion(f, c, z, x, y, phases));
  });
}
