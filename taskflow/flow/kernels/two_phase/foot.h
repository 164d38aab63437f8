// The foot of a cell on the interface, x - phi grad(phi) / |grad(phi)|^2.
#include "neighbours.h"

struct Slope {
  real x, y, z;
  INLINE real square() const { return x * x + y * y + z * z; }
};
FN Slope gradient(In phi, Index c, const Lines& a) { return {slope(phi, c, a.x), slope(phi, c, a.y), slope(phi, c, a.z)}; }

// The way to the foot, -phi grad(phi) / |grad(phi)|^2, in cells
FN Slope way(real phi, const Slope& g, const Lines& a) {
  const real size = g.square(), way = size > 0 ? -phi / size : real(0);
  return {way * g.x * a.x.inverse, way * g.y * a.y.inverse, way * g.z * a.z.inverse};
}

// Of a place `at` cells from a cell: the cell below it, at most `reach` away, and how far behind that it is
struct Foot {
  int below;
  real part;
  INLINE real weight(int corner) const { return corner ? part : 1 - part; }
};
FN Foot foot(real at, int reach) {
  const real kept = at > reach ? real(reach) : at < -reach ? real(-reach) : at;
  const int cell = int(kept + 2 * reach) - 2 * reach, below = cell < reach ? cell : reach - 1;
  return {below, kept - below};
}
