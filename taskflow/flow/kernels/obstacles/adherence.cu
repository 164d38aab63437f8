// What a body does to the velocity beside it, predicted as if there were none: 0 on closed faces, slowed down on cut ones.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"

// q with friction that is taken at the end of the step, where the pressure has pushed it by -push
FN real slowed(real q, real friction, real push) { return (q + friction * push) / (1 + friction); }

// u = (u + a dt grad(p)) / (1 + a), a = dt viscosity stick, on cut faces, 0 on closed ones. Those on walls stay.
TASK adhere(Range range, InOut u, InOut v, InOut w, In p, InByte solid, In stick_x, In stick_y, In stick_z, In64 dt,
            Grid grid, real viscosity) {
  STRIDES(range)
  const real step = real(*dt), drag = step * viscosity;
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    if (bits & BESIDE) {  // few are: what all others would load stays where it is
      const real here = p[c], x = step * axis(grid, 0, c.i, X).per_face(), y = step * axis(grid, 1, c.j, Y).per_face();
      const real z = step * axis(grid, 2, c.k, Z).per_face();
      if (c.i != grid.first[0]) u[c] = closed(bits, 0) ? real(0) : slowed(u[c], drag * stick_x[c], x * (here - p[c - X]));
      if (c.j != grid.first[1]) v[c] = closed(bits, 2) ? real(0) : slowed(v[c], drag * stick_y[c], y * (here - p[c - Y]));
      if (c.k != grid.first[2]) w[c] = closed(bits, 4) ? real(0) : slowed(w[c], drag * stick_z[c], z * (here - p[c - Z]));
    }
  });
}

// T = (T + dt diffusivity warm) / (1 + dt diffusivity bond), where T is not held
TASK warm(Range range, InOut T, In bond_T, In warm_T, In64 dt, real diffusivity) {
  const real step = real(*dt) * diffusivity;
  for_cells(range, CELL(c) {
    const real bond = bond_T[c];
    if (bond > 0) T[c] = (T[c] + step * warm_T[c]) / (1 + step * bond);
  });
}
