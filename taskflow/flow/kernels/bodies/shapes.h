// Rotated and displaced spheres (0), cylinders (1) and boxes (2) among the points of a grid: see
// taskflow/flow/bodies/placement.py. Positions are relative to the origin of the grid, in double precision, from tables of
// coordinates in the precision of the fields.

constexpr int NUMBERS = 14, POSE = 9;  // of a shape: constant, and varying in time
constexpr double CLOSEST = 1e-6, LEAST_OPEN = 0.25;  // of a spacing, and of a face

using Poses = In64Of<54>;

// Number of shapes. A single one is a compile-time constant: a GPU keeps it in registers.
#ifdef SINGLE
FN int count_of(const BodyShapes&) { return 1; }
#else
FN int count_of(const BodyShapes& g) { return g.count; }
#endif

struct Place {
  double at[3];
};
// Along which axis a point lies on a face: one of them, all (a corner), or none (a centre)
constexpr int CORNER = 3, CENTRE = 4;

struct Body {
  const real* own;
  const Poses& poses;
  int first;  // of its poses

  INLINE int kind() const { return int(own[0]); }
  INLINE int axis() const { return int(own[1]); }
  INLINE double radius() const { return own[2]; }
  INLINE double low(int n) const { return own[3 + n]; }
  INLINE double high(int n) const { return own[6 + n]; }
  INLINE int turn() const { return int(own[9]); }
  INLINE int owner() const { return int(own[10]); }
  INLINE bool isothermal() const { return own[11] != 0; }
  INLINE real temperature() const { return own[12]; }
  INLINE bool moves() const { return own[13] != 0; }
  INLINE double pose(int n) const { return poses[first + n]; }
};

FN Body body(const BodyShapes& g, const Poses& poses, int number) {
  const int n = count_of(g) == 1 ? 0 : number - 1;
  return {g.shapes + n * NUMBERS, poses, n * POSE};
}

FN double whole(double a) {
  const double towards_0 = double(Index(a));
  return towards_0 > a ? towards_0 - 1 : towards_0;
}

// Vector from the centre of a body to a point, or to the nearest of its images
FN Place away(const BodyShapes& g, const Body& b, const Place& p) {
  Place d;
  for (int n = 0; n < 3; ++n) {
    const double far = p.at[n] - b.pose(n), length = g.length[n];
    const bool beyond = g.periodic[n] && magnitude(far) > 0.49 * length;  // divisions take a GPU long
    d.at[n] = beyond ? far - length * whole(far / length + 0.5) : far;
  }
  return d;
}

// A vector as the body at rest has it
FN Place back(const Body& b, Place d) {
  const double c = b.pose(3), s = b.pose(4), x = d.at[0], y = d.at[1], z = d.at[2];
  const int turn = b.turn();
  if (turn == 0) return {{x, c * y + s * z, c * z - s * y}};
  if (turn == 1) return {{c * x - s * z, y, c * z + s * x}};
  return {{c * x + s * y, c * y - s * x, z}};
}

// The square of the distance from the axis of a cylinder, or from the centre of a sphere: of the product of two vectors
FN double round_product(const Body& b, const Place& d, const Place& e) {
  double sum = 0;
  for (int n = 0; n < 3; ++n) sum += b.kind() == 1 && n == b.axis() ? 0.0 : d.at[n] * e.at[n];
  return sum;
}
FN bool is_flat(const Body& b, int n) { return b.kind() == 2 || (b.kind() == 1 && n == b.axis()); }

FN bool inside(const Body& b, const Place& d) {
  bool in = b.kind() == 2 || round_product(b, d, d) < b.radius() * b.radius();
  for (int n = 0; n < 3; ++n) in = in && (!is_flat(b, n) || (b.low(n) <= d.at[n] && d.at[n] < b.high(n)));
  return in;
}

// Distance of a point from a body, negative inside
FN double outside_by(const Body& b, const Place& d) {
  double square = 0, nearest = -1e300;
  const auto beyond = [&](double by) {
    square += by > 0 ? by * by : 0.0;
    nearest = by > nearest ? by : nearest;
  };
  if (b.kind() != 2) beyond(root(round_product(b, d, d)) - b.radius());
  for (int n = 0; n < 3; ++n)
    if (is_flat(b, n)) beyond(b.low(n) - d.at[n] > d.at[n] - b.high(n) ? b.low(n) - d.at[n] : d.at[n] - b.high(n));
  return square > 0 ? root(square) : nearest;
}

// The body that has a point: the last one; 0 for none
FN int number_at(const BodyShapes& g, const Poses& poses, const Place& p) {
  for (int n = count_of(g); n > 0; --n) {
    const Body b = body(g, poses, n);
    if (inside(b, back(b, away(g, b, p)))) return n;
  }
  return 0;
}

// Distance from a point to the first body on a path along an axis that ends inside one, as a fraction of the path
FN double entry(const BodyShapes& g, const Poses& poses, const Place& p, int axis, double step) {
  double least = 1;
  for (int m = 1; m <= count_of(g); ++m) {
    const Body b = body(g, poses, m);
    const Place way{{axis == 0 ? step : 0.0, axis == 1 ? step : 0.0, axis == 2 ? step : 0.0}};
    const Place d = back(b, away(g, b, p)), v = back(b, way);
    const Place end{{d.at[0] + v.at[0], d.at[1] + v.at[1], d.at[2] + v.at[2]}};
    if (!inside(b, end)) continue;
    double share = 0;
    if (b.kind() != 2) {
      const double A = round_product(b, v, v), B = round_product(b, d, v), C = round_product(b, d, d) - b.radius() * b.radius();
      const double beneath = B * B - A * C;
      if (C > 0 && A > 0) share = (-B - root(beneath > 0 ? beneath : 0.0)) / A;
    }
    for (int n = 0; n < 3; ++n) {
      if (!is_flat(b, n) || v.at[n] == 0) continue;
      const double in = ((v.at[n] > 0 ? b.low(n) : b.high(n)) - d.at[n]) / v.at[n];
      share = in > share ? in : share;
    }
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    least = share < least ? share : least;
  }
  return least;
}

// The velocity along an axis of a body at a point: it depends on the place along the other axes alone
FN double speed(const BodyShapes& g, const Body& b, const Place& p, int axis) {
  if (!b.moves()) return 0;
  const Place d = away(g, b, p);
  const double x = d.at[0], y = d.at[1], z = d.at[2], omega = b.pose(8);
  const int turn = b.turn();
  const double along_x = turn == 1 ? z : turn == 2 ? -y : 0.0, along_y = turn == 2 ? x : turn == 0 ? -z : 0.0;
  const double along_z = turn == 0 ? y : turn == 1 ? -x : 0.0;
  if (axis == 0) return b.pose(5) + omega * along_x;
  return axis == 1 ? b.pose(6) + omega * along_y : b.pose(7) + omega * along_z;
}

// A point of the cell (i, j, k) on its low face across an axis, its CORNER or its CENTRE
struct Lattice {
  const BodyShapes& g;
  const Poses& poses;

  INLINE Place place(const int (&cell)[3], int at) const {
    Place p;
    for (int n = 0; n < 3; ++n) p.at[n] = at == n || at == CORNER ? g.faces[n][cell[n]] : g.centres[n][cell[n]];
    return p;
  }
  // Points of cells beyond walls are in no body; corners on high walls may be
  INLINE int number(const int (&cell)[3], int at) const {
    bool out = false;
    for (int n = 0; n < 3; ++n)
      out = out || (!g.periodic[n] && (cell[n] < 0 || cell[n] >= g.cells[n] + (at == CORNER ? 1 : 0)));
    return out ? 0 : number_at(g, poses, place(cell, at));
  }
  // From a point to the next one along an axis, and the extent of the volume around it
  INLINE double step(const int (&cell)[3], int at, int axis, int side) const {
    const bool on_face = at == axis || at == CORNER;
    double size = 0;
    for (int n = 0; n < 3; ++n)
      if (n == axis) size = on_face ? g.widths[n][cell[n] + (side < 0 ? -1 : 0)] : g.gaps[n][cell[n] + (side < 0 ? -1 : 0)];
    return size;
  }
  INLINE double extent(const int (&cell)[3], int at, int axis) const {
    double size = 0;
    for (int n = 0; n < 3; ++n)
      if (n == axis) size = at == axis ? g.gaps[n][cell[n] - 1] : g.widths[n][cell[n]];
    return size;
  }
  // Distance of the nearest body from a point, and its number
  INLINE double nearest(const Place& p, int& number) const {
    double least = 1e300;
    number = 1;
    for (int n = 1; n <= count_of(g); ++n) {
      const Body b = body(g, poses, n);
      const double by = outside_by(b, back(b, away(g, b, p)));
      if (by < least) least = by, number = n;
    }
    return least;
  }
  // The largest width of cells within three steps
  INLINE double widest(const int (&cell)[3]) const {
    double most = 0;
    for (int axis = 0; axis < 3; ++axis)
      for (int by = -3; by <= 3; ++by) {
        const double width = g.widths[axis][cell[axis] + by];
        most = width > most ? width : most;
      }
    return most;
  }
};

// Weight of a surface at a fraction of a step, and its excess over the weight at a whole step
FN double weight(double share, double step, double extent) { return 1 / ((share > CLOSEST ? share : CLOSEST) * step * extent); }
// Rate of an approaching body along an axis: see taskflow/flow/bodies/moving.py
FN double carried(double speed, int side, double share, double step) {
  const double nearing = -side * speed;
  return nearing > 0 ? nearing * (1 / (share > CLOSEST ? share : CLOSEST) - 1) / step : 0.0;
}
