// What a flow exerts on bodies: the very pressure and friction that a stage has on their surfaces.
#include "cell.h"
#include "balance.h"

// Force of pressure, of friction, and moment of both
template <class Q>
FN Sums<9> exerted(InWall wall, InByte owner, Q p, Q u, Q v, Q w, const Cell& c, const Steps& steps, const Numbers& n, const CutBody& body) {
  if (owner[c] != body.number) return {};
  const OnWall on = on_wall(wall, p, u, v, w, c, steps, n.viscosity);
  const double r[3] = {wall(c, 11) - body.point[0], wall(c, 12) - body.point[1], wall(c, 13) - body.point[2]};
  const double f[3] = {double(on.pressure.x) + on.friction.x, double(on.pressure.y) + on.friction.y, double(on.pressure.z) + on.friction.z};
  return {{on.pressure.x, on.pressure.y, on.pressure.z, on.friction.x, on.friction.y, on.friction.z, r[1] * f[2] - r[2] * f[1],
           r[2] * f[0] - r[0] * f[2], r[0] * f[1] - r[1] * f[0]}};
}

TASK largest_on_body(Range range, In p, In u, In v, In w, InValues<14> wall, InByte owner, Partial most, Numbers numbers, CutBody body) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  reduce_cells(range, most, MAX, CELL(c) {
    const Sums<9> here = exerted(wall, owner, p, u, v, w, c, steps, numbers, body);
    double largest = 0;
    for (int n = 0; n < 9; ++n) largest = Max::fold(largest, here.of[n] < 0 ? -here.of[n] : here.of[n]);
    return largest;
  });
}

TASK force_on_body(Range range, In p, In u, In v, In w, InValues<14> wall, InByte owner, ExactPartial<9> force, In64 most, Numbers numbers, CutBody body) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  exact_sum_cells(range, force, most, CELL(c) { return exerted(wall, owner, p, u, v, w, c, steps, numbers, body); });
}
