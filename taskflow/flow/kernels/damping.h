// Van Driest's damping of the mixing length beside smooth walls: 1 - exp(-y+ / 26), y+ being the distance in viscous
// lengths.
#include "metrics.h"

// 1 - exp(-x) for x >= 0, by operations that have the same bits everywhere: a Taylor series for x / 64, doubled six
// times, 1 - exp(-2x) = (1 - exp(-x)) (1 + exp(-x)), which keeps the relative error.
FN real risen(real x) {
  constexpr int TERMS = sizeof(real) == 4 ? 7 : 15;
  const real most = sizeof(real) == 4 ? 20 : 40, y = (x < most ? x : most) * real(1.0 / 64);  // beyond it is 1
  double factor = 1;
  for (int n = 2; n <= TERMS; ++n) factor /= n;
  real sum = real(factor);
  for (int n = TERMS; n > 1; --n) {
    factor *= n;
    sum = real(factor) - y * sum;
  }
  real value = y * sum;
  for (int n = 0; n < 6; ++n) value = value * (2 - value);
  return value;
}

// y+ = y u_tau / viscosity, u_tau following from the speed at y alone: y times speed / viscosity is y+ u+, and the larger
// of both layers of the law of the wall u+ = y+, u+ = 8.3 y+^(1/7) (Werner & Wengle 1991) gives y+.
FN real wall_units(real reynolds) {
  constexpr double A = 8.3, ROOT_A = 2.8809720581775866;
  const real second = root(reynolds * real(1 / A)), fourth = root(second), eighth = root(fourth);
  return second * larger(real(ROOT_A), fourth * eighth);
}

// A wall as seen from a cell.
struct Nearest {
  real distance, velocity[3];

  INLINE void or_else(real other, const real (&moving)[3]) {
    const bool closer = other < distance;
    distance = closer ? other : distance;
    for (int a = 0; a < 3; ++a) velocity[a] = closer ? moving[a] : velocity[a];
  }
};

FN Nearest nearest(const Cell& c, const SmoothWalls& walls, const Grid& grid) {
  const real x = along(grid, 0, c.i), y = along(grid, 1, c.j), z = along(grid, 2, c.k);
  const real(&low)[3] = walls.low, (&high)[3] = walls.high;
  Nearest found{low[0] + x, {walls.x_min[0], walls.x_min[1], walls.x_min[2]}};
  found.or_else(high[0] - x, walls.x_max);
  found.or_else(low[1] + y, walls.y_min);
  found.or_else(high[1] - y, walls.y_max);
  found.or_else(low[2] + z, walls.z_min);
  found.or_else(high[2] - z, walls.z_max);
  return found;
}
