// What bounds the next step besides its speed: how much friction changes on a face.
#define UZ 32
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

// Whether the cells around the faces all hold phase 1, or all phase 2: hardly any cell is beside the interface.
FN bool one_phase(In f, Index c, Index X, Index Y, Index Z) {
  const Index around[15] = {X, -X, Y, -Y, Z, -Z, -X - Y, -X + Y, X - Y, -Y - Z, -Y + Z, Y - Z, -Z - X, -Z + X, Z - X};
  real least = f[c], most = f[c];
  for (int n = 0; n < 15; ++n) {
    const real share = f[c + around[n]];
    least = share < least ? share : least, most = share > most ? share : most;
  }
  return most <= 0 || least >= 1;
}

// friction = max over faces of the sum of mu / h^2 over the six sides of their volumes, over twice their density
TASK friction_rate(Range range, In f, Partial friction, Grid grid, Phases phases) {
  STRIDES(range)
  reduce_cells(range, friction, MAX, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    if (one_phase(f, c, X, Y, Z)) {
      const real once = x.per_cell() * x.per_cell() + y.per_cell() * y.per_cell() + z.per_cell() * z.per_cell();
      return viscosity(phases, f[c]) * once / density(phases, f[c]);
    }
    return larger(larger(diffusion(f, c, x, y, z, phases), diffusion(f, c, y, z, x, phases)), diffusion(f, c, z, x, y, phases));
  });
}
