// The hydrostatic pressure on open sides along gravity. N leads one cell into the domain.
#define UZ 1
#include "cell.h"
#include "weight.h"
#include "../boundaries/loss.h"

// Weight per volume between the centres of cell `c` and of the one before it along `a`
FN real weight_between(const Phases& phases, In f, None, Index c, const Component& a) {
  return phases.gravity[a.number] * density_on_face(phases, f, c, a.axis.step);
}
FN real weight_between(const Phases& phases, In f, In fall, Index c, const Component& a) {
  return weight_between(phases, f, None{}, c, a) + weight_jump(phases, f, fall, c, a);
}

// P_new = P one cell higher, and the weight between; in the highest cell, and where the light phase is alone, that phase's weight
// below the highest corner of the domain. Over the layer of ghost cells; `up` is 1 where gravity points down along the axis, else -1.
TASK weigh_outlet(Range range, In P, In f OPTIONAL(fall), Out P_new, Grid grid, Phases phases, OutletColumn column) {
  FRAME(range)
  const int along = column.along, up = column.up;
  const Index A = along == AXIS_R ? R : S;
  const double light = phases.density_1 < phases.density_2 ? phases.density_1 : phases.density_2;
  for_cells(range, CELL(c) {
    const Index inside = c + N;
    const real share = phases.density_1 < phases.density_2 ? 1 - f[inside] : f[inside];  // of the heavy phase
    const int n = index(c, along), last = grid.cells[along] - 1;
    double ambient = 0;
    for (int number = 0; number < 3; ++number) {
      const double place = number == AXIS ? column.face : centre(grid, number, index(c, number));
      ambient += light * phases.gravity[number] * (place - column.top[number]);
    }
    const bool highest = n == (up > 0 ? last : 0);
    const Component a{f, along, axis(grid, along, n, A)};
    const Index upper = up > 0 ? inside + A : inside;
    const real between = up > 0 ? -weight_between(phases, f, fall, upper, a) : weight_between(phases, f, fall, upper, a);
    const real top = real(ambient) + (density(phases, f[inside]) - real(light)) * real(column.half);
    const real higher = P[highest ? Index(c) : c + up * A] + between / a.axis.per_face();
    P_new[c] = share <= real(1e-6) ? real(ambient) : highest ? top : higher;
  });
}

// q_new = q_new - (q_new + back) d / (1 + d), d = dt k |q| / spacing, back = sign dt p / (rho spacing / 2)
TASK resist_by_density(Range range, InOut q_new, In q, In p, In f, In64 dt, Phases phases, Opening opening, Loss loss) {
  FRAME(range)
  const real gain = real(2 * *dt * opening.inverse * opening.sign), drag = real(*dt * opening.inverse);
  const Index A = HIGH ? -N : N;
  for_cells(range, CELL(c) {
    const real back = gain * p[c + (HIGH ? N : 0)] / density_on_face(phases, f, c, A);
    q_new[c] = slowed(q_new[c], back, q[c], drag, opening, loss);
  });
}

// q -= sign dt P / (rho spacing / 2)
TASK push_weighed(Range range, InOut q, In P, In f, In64 dt, Phases phases, Opening opening) {
  FRAME(range)
  const real step = real(2 * *dt) * opening.inverse * opening.sign;
  const Index A = HIGH ? -N : N, beyond = HIGH ? 0 : N;
  for_cells(range, CELL(c) { q[c] -= step * P[c - beyond] / density_on_face(phases, f, c, A); });
}
