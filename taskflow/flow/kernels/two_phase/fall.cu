// How far cells fall to the interface: what balances the weight of both phases there.
#define UZ 8
#include "cell.h"
#include "foot.h"

constexpr int REACH = 3;  // cells that a foot may be away along an axis: next to the interface it is nearer

// The foot along an axis between two cells inside of walls: beyond them values are on the line through these
FN Foot inside(Foot foot, const Line& a) {
  const real place = foot.below + foot.part;
  const int high = foot.below < a.behind ? foot.below : a.behind - 1, below = high > -a.before ? high : -a.before;
  return {below, place - below};
}

// phi at the foot that its slope in a cell leads to, 0 where that is out of reach
FN real at_foot(In phi, Index c, const Slope& to, const Lines& a) {
  if (!(magnitude(to.x) <= REACH && magnitude(to.y) <= REACH && magnitude(to.z) <= REACH)) return 0;
  const Foot x = inside(foot(to.x, REACH), a.x), y = inside(foot(to.y, REACH), a.y), z = inside(foot(to.z, REACH), a.z);
  const auto next = [](const Line& a, const Foot& f) { return f.below < a.behind ? a.step : Index(0); };
  const Index X = next(a.x, x), Y = next(a.y, y), Z = next(a.z, z);
  const Index first = c + x.below * a.x.step + y.below * a.y.step + z.below * a.z.step;
  real value = 0;
  for (int n = 0; n < 8; ++n) {
    const int i = n & 1, j = n >> 1 & 1, k = n >> 2;
    value += x.weight(i) * y.weight(j) * z.weight(k) * phi[first + i * X + j * Y + k * Z];
  }
  return value;
}

// fall = g.(x - foot) in the cells next to the interface, infinite in others: of a second step of Newton's method, along the same
// gradient. After one step alone waves along an interface across cells grow.
TASK fall_to_foot(Range range, In phi, Out fall, Grid grid, Band band, Phases phases) {
  STRIDES(range)
  const auto near = CELL(c) { return magnitude(phi[c]) < band.foot; };
  most_cells(range, everywhere(), CELL(c) { return real(INFINITE); }, near, CELL(c) {
    if (!near(c)) return real(INFINITE);
    const Lines a = lines(grid, c, X, Y, Z, band);
    const Slope s = gradient(phi, c, a);
    const real size = s.square(), down = phases.gravity[0] * s.x + phases.gravity[1] * s.y + phases.gravity[2] * s.z;
    const real away = phi[c] + at_foot(phi, c, way(phi[c], s, a), a);
    return size > 0 ? away * (down / size) : real(INFINITE);
  }, STORE(c, value) { fall[c] = value; });
}
