// Momentum taken by bodies from the fluid: sums over their faces, in double precision.
#include "../metrics.h"

// Force on a face, over the volume around it.
struct Push {
  double pressure, friction;
};

// Distance along an axis from the point of the moments to a position; for a body across a periodic side, to the image of the
// position nearest to the centre of the body
FN double arm(const ForceTarget& target, int axis, double place) {
  const double length = target.period[axis], away = place - target.middle[axis];
  const double image = length > 0 && away > 0.5 * length ? -length : length > 0 && away < -0.5 * length ? length : 0.0;
  return place + image - target.about[axis];
}

// Pressure and friction on the low faces of a cell that are on the body, and their moment about a point
FN Sums<9> pushed(Cell c, Push x, Push y, Push z, bool on_x, bool on_y, bool on_z, const Grid& grid, const ForceTarget& target) {
  const double wide_x = width(grid, 0, c.i), wide_y = width(grid, 1, c.j), wide_z = width(grid, 2, c.k);
  const double volume_x = distance(grid, 0, c.i) * wide_y * wide_z, volume_y = wide_x * distance(grid, 1, c.j) * wide_z;
  const double volume_z = wide_x * wide_y * distance(grid, 2, c.k);
  const bool in_x = on_x & (c.i != grid.first[0]), in_y = on_y & (c.j != grid.first[1]), in_z = on_z & (c.k != grid.first[2]);
  const double px = in_x ? volume_x * x.pressure : 0.0, qx = in_x ? volume_x * x.friction : 0.0;
  const double py = in_y ? volume_y * y.pressure : 0.0, qy = in_y ? volume_y * y.friction : 0.0;
  const double pz = in_z ? volume_z * z.pressure : 0.0, qz = in_z ? volume_z * z.friction : 0.0;
  const double tx = px + qx, ty = py + qy, tz = pz + qz;
  // from the point to the cell's centre: along its own direction a force has no lever arm
  const double i = arm(target, 0, centre(grid, 0, c.i)), j = arm(target, 1, centre(grid, 1, c.j));
  const double k = arm(target, 2, centre(grid, 2, c.k));
  return Sums<9>{{px, py, pz, qx, qy, qz, j * tz - k * ty, k * tx - i * tz, i * ty - j * tx}};
}
