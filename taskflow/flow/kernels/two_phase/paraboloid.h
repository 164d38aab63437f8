// The curvature of the interface from the paraboloid that is closest to the planes around a cell.
#include "heights.h"

struct Place {
  double x, y, z;
};
FN Place operator+(Place a, Place b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
FN Place operator*(double a, Place b) { return {a * b.x, a * b.y, a * b.z}; }
FN double dot(Place a, Place b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// The middle of a plane in a cell, from the middle of that, and the means of products of distances from there. The part in the cube
// is a triangle less those beyond faces plus those beyond edges. Components below LEAN count as that much: they would divide small
// differences.
constexpr real LEAN = real(1e-3);
struct Piece {
  Place middle;
  double xx, yy, zz, yz, zx, xy;
  double area;  // over that of a face, in cells as a unit
};
FN Piece piece_of_plane(const Normal& normal, real f) {
  const Normal m = scaled({max(magnitude(normal.x), LEAN), max(magnitude(normal.y), LEAN), max(magnitude(normal.z), LEAN)});
  const double alpha = plane_of(ordered(m.x, m.y, m.z), f), a = m.x, b = m.y, c = m.z;
  double area = 0;
  Place sum{0, 0, 0};
  double xx = 0, yy = 0, zz = 0, yz = 0, zx = 0, xy = 0;
  for (int n = 0; n < 8; ++n) {
    const int i = n & 1, j = n >> 1 & 1, k = n >> 2;
    const double left = alpha - (i * a + j * b + k * c), part = left > 0 ? ((i + j + k) & 1 ? -left : left) * left : 0.0;
    const double x = left / a, y = left / b, z = left / c;  // how far the corners of the triangle are from its cube's
    area += part;
    sum = sum + part * Place{i + x / 3, j + y / 3, k + z / 3};
    xx += part * (i * i + 2 * i * x / 3 + x * x / 6), yy += part * (j * j + 2 * j * y / 3 + y * y / 6);
    zz += part * (k * k + 2 * k * z / 3 + z * z / 6), yz += part * (j * k + (j * z + k * y) / 3 + y * z / 12);
    zx += part * (k * i + (k * x + i * z) / 3 + z * x / 12), xy += part * (i * j + (i * y + j * x) / 3 + x * y / 12);
  }
  const double once = area > 0 ? 1 / area : 0.0;
  const Place at = once * sum;
  const double sx = normal.x < 0 ? -1 : 1, sy = normal.y < 0 ? -1 : 1, sz = normal.z < 0 ? -1 : 1;
  return {{sx * (at.x - 0.5), sy * (at.y - 0.5), sz * (at.z - 0.5)}, once * xx - at.x * at.x, once * yy - at.y * at.y,
          once * zz - at.z * at.z, sy * sz * (once * yz - at.y * at.z), sz * sx * (once * zx - at.z * at.x),
          sx * sy * (once * xy - at.x * at.y), area * ROOT(a * a + b * b + c * c) / (2 * a * b * c)};
}
FN double product(const Piece& p, Place a, Place b) {
  return p.xx * a.x * b.x + p.yy * a.y * b.y + p.zz * a.z * b.z + p.yz * (a.y * b.z + a.z * b.y) +
         p.zx * (a.z * b.x + a.x * b.z) + p.xy * (a.x * b.y + a.y * b.x);
}

// A cell n cells away along an axis, mirrored beyond walls
struct Neighbour {
  int cells;
  bool mirrored;
};
FN Neighbour neighbour(const Line& a, int n) {
  const int cells = n < 0 ? -Line::mirrored(1, a.before, a.behind) : n > 0 ? Line::mirrored(1, a.behind, a.before) : 0;
  return {cells, cells != n};
}

// Unknowns of z = a x^2 + b y^2 + c x y + d x + e y + g by least squares, by elimination in a fixed order. A plane has the mean
// height of what it stands for, so that each term is a mean over it: at its middle alone it would be too low by up to a quarter.
struct Fit {
  double rows[6][7] = {};
  int points = 0;
  INLINE void take(double x, double y, double z, double xx, double yy, double xy, double weight) {
    const double terms[7] = {x * x + xx, y * y + yy, x * y + xy, x, y, 1.0, z};
    for (int n = 0; n < 6; ++n)
      for (int m = 0; m < 7; ++m) rows[n][m] += weight * terms[n] * terms[m];
    ++points;
  }
  INLINE bool solve() {
    for (int n = 0; n < 6; ++n) {
      if (!(rows[n][n] > 1e-8)) return false;
      for (int m = n + 1; m < 6; ++m) {
        const double part = rows[m][n] / rows[n][n];
        for (int k = n; k < 7; ++k) rows[m][k] -= part * rows[n][k];
      }
    }
    for (int n = 5; n >= 0; --n) {
      for (int m = n + 1; m < 6; ++m) rows[n][6] -= rows[n][m] * rows[m][6];
      rows[n][6] /= rows[n][n];
    }
    return true;
  }
};

// kappa in a cell with a normal m; `known` is false where fewer than six planes are around, or they lie on a curve
FN real bent_by_paraboloid(In f, const Cell& c, const Normal& m, Index X, Index Y, Index Z, const Grid& grid, bool& known) {
  const Lines a = lines(grid, c, X, Y, Z);
  const double h = 1 / double(max(max(a.x.inverse, a.y.inverse), a.z.inverse));
  const Place spacing{1 / (a.x.inverse * h), 1 / (a.y.inverse * h), 1 / (a.z.inverse * h)};
  const Place steep{m.x / spacing.x, m.y / spacing.y, m.z / spacing.z};
  const Place up = (1 / ROOT(dot(steep, steep))) * steep;
  const double sx = up.x < 0 ? -up.x : up.x, sy = up.y < 0 ? -up.y : up.y, sz = up.z < 0 ? -up.z : up.z;
  const Place least = sx <= sy && sx <= sz ? Place{1, 0, 0} : sy <= sz ? Place{0, 1, 0} : Place{0, 0, 1};
  const Place first{least.y * up.z - least.z * up.y, least.z * up.x - least.x * up.z, least.x * up.y - least.y * up.x};
  const Place east = (1 / ROOT(dot(first, first))) * first;
  const Place north{up.y * east.z - up.z * east.y, up.z * east.x - up.x * east.z, up.x * east.y - up.y * east.x};
  const auto scaled_to = [&](const Place& p) { return Place{p.x * spacing.x, p.y * spacing.y, p.z * spacing.z}; };
  const Place origin = scaled_to(piece_of_plane(m, f[c]).middle);
  const Place to_east = scaled_to(east), to_north = scaled_to(north);
  Fit fit;
  for (int n = 0; n < 27; ++n) {
    const int i = n % 3 - 1, j = n / 3 % 3 - 1, k = n / 9 - 1;
    const Neighbour x = neighbour(a.x, i), y = neighbour(a.y, j), z = neighbour(a.z, k);
    const Cell other{c.i + x.cells, c.j + y.cells, c.k + z.cells, c.offset + x.cells * X + y.cells * Y + z.cells * Z};
    const real share = f[other];
    if (!is_bent(share)) continue;
    Normal own = n == 13 ? m : normal(f, other, lines(grid, other, X, Y, Z));
    if (steepness(own) == 0) continue;
    own = {x.mirrored ? -own.x : own.x, y.mirrored ? -own.y : own.y, z.mirrored ? -own.z : own.z};
    const Place cell{double(i), double(j), double(k)};
    const Piece piece = piece_of_plane(own, share);
    const Place at = scaled_to(cell + piece.middle) + -1.0 * origin;
    fit.take(dot(at, east), dot(at, north), dot(at, up), product(piece, to_east, to_east), product(piece, to_north, to_north),
             product(piece, to_east, to_north), piece.area);
  }
  known = fit.points >= 6 && fit.solve();
  if (!known) return 0;
  const auto of = [&](int n) { return real(fit.rows[n][6]); };
  return bent_down(of(3), of(4), 2 * of(0), 2 * of(1), of(2)) / real(h);
}
