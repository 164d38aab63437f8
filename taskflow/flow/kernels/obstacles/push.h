// What bodies take from the fluid: sums over their faces, in double precision.

// A direction: from a cell to the next, and one over their distance.
struct Step {
  Index cells;
  double inverse;
};

// Force on a face, over the volume of a cell.
struct Push {
  double pressure, friction;
};

// Four times what the flow carries of q away from the low face across a of a cell, where q itself is 0
FN double carried_off(In q, In r, In s, Index c, Step a, Step b, Step d) {
  const Index A = a.cells, B = b.cells, D = d.cells;
  const double a_low = q[c - A], a_high = q[c + A], b_low = q[c - B], b_high = q[c + B], d_low = q[c - D], d_high = q[c + D];
  return a.inverse * (a_high * a_high - a_low * a_low) +
         b.inverse * ((double(r[c - A + B]) + r[c + B]) * b_high - (double(r[c - A]) + r[c]) * b_low) +
         d.inverse * ((double(s[c - A + D]) + s[c + D]) * d_high - (double(s[c - A]) + s[c]) * d_low);
}

// Pressure and friction on the low faces of a cell that are on the body, and their moment about a point
FN Sums<9> forces(Cell c, Push x, Push y, Push z, bool on_x, bool on_y, bool on_z, const Grid& grid, const Target& target) {
  const double volume = double(grid.spacing[0]) * grid.spacing[1] * grid.spacing[2];
  const bool in_x = on_x & (c.i != grid.first[0]), in_y = on_y & (c.j != grid.first[1]), in_z = on_z & (c.k != grid.first[2]);
  const double px = in_x ? volume * x.pressure : 0.0, qx = in_x ? volume * x.friction : 0.0;
  const double py = in_y ? volume * y.pressure : 0.0, qy = in_y ? volume * y.friction : 0.0;
  const double pz = in_z ? volume * z.pressure : 0.0, qz = in_z ? volume * z.friction : 0.0;
  const double tx = px + qx, ty = py + qy, tz = pz + qz;
  // from the point to the cell's centre: across its own direction a force has no moment
  const double i = (c.i + 0.5) * double(grid.spacing[0]) - target.about[0];
  const double j = (c.j + 0.5) * double(grid.spacing[1]) - target.about[1];
  const double k = (c.k + 0.5) * double(grid.spacing[2]) - target.about[2];
  return Sums<9>{{px, py, pz, qx, qy, qz, j * tz - k * ty, k * tx - i * tz, i * ty - j * tx}};
}
