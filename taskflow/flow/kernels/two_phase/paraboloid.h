// The curvature of the interface from the paraboloid that is closest to the planes around a cell.
#include "heights.h"

struct Vector {
  double along[3];
  INLINE double operator[](int axis) const { return along[axis]; }
};
FN Vector operator+(const Vector& a, const Vector& b) { return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}}; }
FN Vector operator-(const Vector& a, const Vector& b) { return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}}; }
FN Vector operator*(const Vector& a, const Vector& b) { return {{a[0] * b[0], a[1] * b[1], a[2] * b[2]}}; }
FN Vector operator*(double a, const Vector& b) { return {{a * b[0], a * b[1], a * b[2]}}; }
FN double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
FN Vector cross(const Vector& a, const Vector& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}
FN Vector unit(const Vector& a) { return (1 / ROOT(dot(a, a))) * a; }

// Integrals over a part of the unit square
struct Moments {
  double area, x, y, xx, yy, xy;
};
FN Moments operator-(const Moments& a, const Moments& b) {
  return {a.area - b.area, a.x - b.x, a.y - b.y, a.xx - b.xx, a.yy - b.yy, a.xy - b.xy};
}
// a / b between 0 and 1, of a >= 0 also without b
FN double part(double a, double b) { return a >= b ? 1 : a <= 0 ? 0 : a / b; }

// The part with m x + n y <= rest: a rectangle of full height, and a trapezoid. No term is a difference of larger ones, so that small m
// and n do not matter.
FN Moments below_line(double m, double n, double rest) {
  const double x = part(rest - n, m), end = part(rest, m), w = end - x;
  const double y = part(rest - m * x, n), z = part(rest - m * end, n);
  const double square = y * y + y * z + z * z, cube = (y + z) * (y * y + z * z);
  return {x + w * (y + z) / 2,
          x * x / 2 + w * (x * (y + z) / 2 + w * (y + 2 * z) / 6),
          x / 2 + w * square / 6,
          x * x * x / 3 + w * (x * x * (y + z) / 2 + w * (x * (y + 2 * z) / 3 + w * (y + 3 * z) / 12)),
          x / 3 + w * cube / 12,
          x * x / 4 + w * (x * square / 6 + w * (y * y + 2 * y * z + 3 * z * z) / 24)};
}

// The plane in a cell, in units of cells from its middle: seen along the axis of its longest normal it is a part of a square, of this
// area and with these means of products of distances from its middle; r and s are the vectors in the plane above the sides of that.
struct Piece {
  Vector middle, r, s;
  double area, rr, ss, rs;

  INLINE double product(const Vector& a, const Vector& b) const {
    const double ra = dot(r, a), rb = dot(r, b), sa = dot(s, a), sb = dot(s, b);
    return rr * ra * rb + ss * sa * sb + rs * (ra * sb + sa * rb);
  }
};
FN Piece piece_of_plane(const Normal& normal, real f) {
  const real size_x = magnitude(normal.x), size_y = magnitude(normal.y), size_z = magnitude(normal.z);
  const Vector m{{size_x, size_y, size_z}};
  const double sign[3] = {normal.x < 0 ? -1.0 : 1.0, normal.y < 0 ? -1.0 : 1.0, normal.z < 0 ? -1.0 : 1.0};
  const int axis = m[0] >= m[1] && m[0] >= m[2] ? 0 : m[1] >= m[2] ? 1 : 2, r = (axis + 1) % 3, s = (axis + 2) % 3;
  const double alpha = plane_of(ordered(size_x, size_y, size_z), f), down_r = m[r] / m[axis], down_s = m[s] / m[axis];
  const Moments all = below_line(m[r], m[s], alpha) - below_line(m[r], m[s], alpha - m[axis]);
  const double once = all.area > 0 ? 1 / all.area : 0.0, x = once * all.x, y = once * all.y;
  Piece piece{{}, {}, {}, all.area, once * all.xx - x * x, once * all.yy - y * y, once * all.xy - x * y};
  piece.middle.along[axis] = sign[axis] * (alpha / m[axis] - down_r * x - down_s * y - 0.5);
  piece.middle.along[r] = sign[r] * (x - 0.5), piece.middle.along[s] = sign[s] * (y - 0.5);
  piece.r.along[r] = sign[r], piece.r.along[axis] = -sign[axis] * down_r;
  piece.s.along[s] = sign[s], piece.s.along[axis] = -sign[axis] * down_s;
  return piece;
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
    double least[6];
    for (int n = 0; n < 6; ++n) least[n] = 1e-8 * rows[n][n];
    for (int n = 0; n < 6; ++n) {
      if (!(rows[n][n] > least[n])) return false;
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

// The weight of a plane by the square of its distance in cells: a fifth of the first at one cell, as for heights. With a half or
// more the curvature of waves from cell to cell has the wrong sign, and droplets at rest do not rest.
FN double nearness(double square) {
  const double root = (1 + square / 2) * (1 + square / 2);
  return 1 / (root * root);
}

// kappa in a cell with a normal m; `known` is false where fewer than six planes are around that face the same side, or they lie on a
// curve
RARE_FN real bent_by_paraboloid(In f, const Cell& c, const Normal& m, Index X, Index Y, Index Z, const Grid& grid, bool& known) {
  const Lines a = lines(grid, c, X, Y, Z);
  const double h = 1 / double(max(max(a.x.inverse, a.y.inverse), a.z.inverse));
  const Vector per_cell{{a.x.inverse * h, a.y.inverse * h, a.z.inverse * h}};
  const Vector spacing{{1 / per_cell[0], 1 / per_cell[1], 1 / per_cell[2]}};
  const Vector up = unit(per_cell * Vector{{m.x, m.y, m.z}});
  const double sx = up[0] < 0 ? -up[0] : up[0], sy = up[1] < 0 ? -up[1] : up[1], sz = up[2] < 0 ? -up[2] : up[2];
  const Vector least = sx <= sy && sx <= sz ? Vector{{1, 0, 0}} : sy <= sz ? Vector{{0, 1, 0}} : Vector{{0, 0, 1}};
  const Vector east = unit(cross(least, up)), north = cross(up, east);
  const Vector to_east = spacing * east, to_north = spacing * north, to_up = spacing * up;
  const Vector origin = piece_of_plane(m, f[c]).middle;
  Fit fit;
  for (int n = 0; n < 27; ++n) {
    const int i = n % 3 - 1, j = n / 3 % 3 - 1, k = n / 9 - 1;
    const Neighbour x = neighbour(a.x, i), y = neighbour(a.y, j), z = neighbour(a.z, k);
    const Cell other{c.i + x.cells, c.j + y.cells, c.k + z.cells, c.offset + x.cells * X + y.cells * Y + z.cells * Z};
    const real share = f[other];
    if (!is_bent(share)) continue;
    Normal own = n == 13 ? m : normal(f, other, lines(grid, other, X, Y, Z));
    own = {x.mirrored ? -own.x : own.x, y.mirrored ? -own.y : own.y, z.mirrored ? -own.z : own.z};
    const double seen = dot(per_cell * Vector{{own.x, own.y, own.z}}, up);
    if (!(seen > 0)) continue;
    const Piece piece = piece_of_plane(own, share);
    const Vector at = Vector{{double(i), double(j), double(k)}} + piece.middle - origin;
    fit.take(dot(at, to_east), dot(at, to_north), dot(at, to_up), piece.product(to_east, to_east),
             piece.product(to_north, to_north), piece.product(to_east, to_north),
             piece.area * (seen / longest(own)) * nearness(dot(at, at)));
  }
  known = fit.points >= 6 && fit.solve();
  if (!known) return 0;
  const auto of = [&](int n) { return real(fit.rows[n][6]); };
  return bent_down(of(3), of(4), 2 * of(0), 2 * of(1), of(2)) / real(h);
}
