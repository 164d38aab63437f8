// What a flow exerts on bodies: the very pressure and friction that a stage has on their surfaces.
#include "cell.h"
#include "balance.h"

// Force of pressure, of friction, and moment of both
template <class Q>
FN Sums<9> exerted(InWall wall, InByte owner, Q p, Q u, Q v, Q w, const Cell& c, const Steps& steps, const Numbers& n, const CutBody& body) {
  if (owner[c] != body.number) return {};
  const OnWall on = on_wall(wall, p, u, v, w, c, steps, n.viscosity, moving(wall, c));
  const double r[3] = {wall(c, 11) - body.point[0], wall(c, 12) - body.point[1], wall(c, 13) - body.point[2]};
  const double f[3] = {double(on.pressure.x) + on.friction.x, double(on.pressure.y) + on.friction.y, double(on.pressure.z) + on.friction.z};
  return {{on.pressure.x, on.pressure.y, on.pressure.z, on.friction.x, on.friction.y, on.friction.z, r[1] * f[2] - r[2] * f[1],
           r[2] * f[0] - r[0] * f[2], r[0] * f[1] - r[1] * f[0]}};
}

TASK largest_on_body(Range range, In p, In u, In v, In w, InValues<18> wall, InByte owner, Partial most, Numbers numbers, CutBody body) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  reduce_cells(range, most, MAX, CELL(c) {
    const Sums<9> here = exerted(wall, owner, p, u, v, w, c, steps, numbers, body);
    double largest = 0;
    for (int n = 0; n < 9; ++n) largest = Max::fold(largest, here.of[n] < 0 ? -here.of[n] : here.of[n]);
    return largest;
  });
}

TASK force_on_body(Range range, In p, In u, In v, In w, InValues<18> wall, InByte owner, ExactPartial<9> force, In64 most, Numbers numbers, CutBody body) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  exact_sum_cells(range, force, most, CELL(c) { return exerted(wall, owner, p, u, v, w, c, steps, numbers, body); });
}

// The products of the area of the surface and the place of its middle, along each axis
FN Sums<3> spanned(InWall wall, InByte owner, const Cell& c, const CutBody& body) {
  if (owner[c] != body.number) return {};
  const auto product = [&](int n) { return (double(wall(c, 11 + n)) - body.point[n]) * double(wall(c, n)); };
  return {{product(0), product(1), product(2)}};
}

TASK largest_span(Range range, InValues<18> wall, InByte owner, Partial most, CutBody body) {
  reduce_cells(range, most, MAX, CELL(c) {
    const Sums<3> here = spanned(wall, owner, c, body);
    double largest = 0;
    for (int n = 0; n < 3; ++n) largest = Max::fold(largest, here.of[n] < 0 ? -here.of[n] : here.of[n]);
    return largest;
  });
}

TASK span_of_body(Range range, InValues<18> wall, InByte owner, ExactPartial<3> span, In64 most, CutBody body) {
  exact_sum_cells(range, span, most, CELL(c) { return spanned(wall, owner, c, body); });
}

// filled = p of open cells; in closed ones the mean of open neighbours, or without these of all
TASK pressure_in_closed(Range range, In p, In fluid, Out filled, Numbers) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    real open = 0, all = 0, count = 0;
    const auto add = [&](Index at) {
      const bool flows = fluid[at] > 0;
      open += flows ? p[at] : real(0), count += flows ? real(1) : real(0), all += p[at];
    };
    add(c - X), add(c + X), add(c - Y), add(c + Y);
#ifdef PLANAR
    constexpr int neighbours = 4;
#else
    constexpr int neighbours = 6;
    add(c - Z), add(c + Z);
#endif
    filled[c] = fluid[c] > 0 ? p[c] : count > 0 ? open / count : all / neighbours;
  });
}

// p = old = filled in closed cells
TASK fill_closed(Range range, InOut p, InOut old, In filled, In fluid) {
  for_cells(range, CELL(c) {
    const bool closed = fluid[c] == 0;
    p[c] = closed ? filled[c] : p[c], old[c] = closed ? filled[c] : old[c];
  });
}
