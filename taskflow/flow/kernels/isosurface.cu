// The area of the surface on which q has a value: marching tetrahedra between the centres of cells.
#define UZ 32
#include "cell.h"
#include "flags.h"
#include "metrics.h"

struct Point {
  double x, y, z;
};
FN Point less(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
FN double triangle(Point a, Point b, Point c) {
  const Point p = less(b, a), q = less(c, a);
  const double x = p.y * q.z - p.z * q.y, y = p.z * q.x - p.x * q.z, z = p.x * q.y - p.y * q.x;
  return 0.5 * root(x * x + y * y + z * z);
}

// A position and the excess of q over the value there; its zero between two of them, with q linear
struct Corner {
  Point at;
  double above;
};
FN Point crossing(Corner a, Corner b) {
  const double share = a.above / (a.above - b.above);
  const Point d = less(b.at, a.at);
  return {a.at.x + share * d.x, a.at.y + share * d.y, a.at.z + share * d.z};
}

// A tetrahedron in which q is linear is cut in a triangle or a quadrilateral
FN double cut_through(const Corner (&given)[4]) {
  Corner c[4];  // corners above first
  int count = 0, last = 3;
  for (int n = 0; n < 4; ++n) {
    if (given[n].above > 0) {
      c[count++] = given[n];
    } else {
      c[last--] = given[n];
    }
  }
  if (count == 1) return triangle(crossing(c[0], c[1]), crossing(c[0], c[2]), crossing(c[0], c[3]));
  if (count == 3) return triangle(crossing(c[0], c[3]), crossing(c[1], c[3]), crossing(c[2], c[3]));
  if (count != 2) return 0;
  const Point a = crossing(c[0], c[2]), b = crossing(c[0], c[3]), d = crossing(c[1], c[2]), e = crossing(c[1], c[3]);
  return triangle(a, b, e) + triangle(a, e, d);
}

// Where a corner is along a direction: `inside` counts cells from the first one to the cell in the domain that has it, `beyond`
// from there to the ghost cell beyond the domain, with which it has the mean on the boundary.
struct Place {
  int inside, beyond;
};
struct Span {
  Place low, high;
  double length;
};
FN Span span(const Axis& a, int n, int first, int last) {
  if (n + 1 == first) return {{1, -1}, {1, 0}, 0.5 / a.per_cell(1)};
  if (n == last) return {{0, 0}, {0, 1}, 0.5 / a.per_cell(0)};
  return {{0, 0}, {1, 0}, 1.0 / a.per_face(1)};
}

// The area between the centres of cell c and of the next cells along all directions, or the boundaries of the domain. Next to
// bodies, whose surfaces are midway between centres, it is the part in the fluid.
template <class Solid>
FN double area_within(In q, const Solid& solid, const Cell& c, const Grid& g, double value, Index X, Index Y, Index Z) {
  const Span x = span(axis(g, 0, c.i, X), c.i, g.first[0], g.last[0]);
  const Span y = span(axis(g, 1, c.j, Y), c.j, g.first[1], g.last[1]);
  const Span z = span(axis(g, 2, c.k, Z), c.k, g.first[2], g.last[2]);
  Corner corners[8];
  int above = 0, fluid = 0;
  for (int n = 0; n < 8; ++n) {
    const Place px = n & 1 ? x.high : x.low, py = n & 2 ? y.high : y.low, pz = n & 4 ? z.high : z.low;
    const Index at = c + px.inside * X + py.inside * Y + pz.inside * Z;
    const In cell = q + at;
    const double here = *cell;
    const double over = (cell[px.beyond * X] - here) + (cell[py.beyond * Y] - here) + (cell[pz.beyond * Z] - here);
    corners[n] = {{n & 1 ? x.length : 0, n & 2 ? y.length : 0, n & 4 ? z.length : 0}, here + 0.5 * over - value};
    above += corners[n].above > 0, fluid += !is_solid(solid, at);
  }
  if (above == 0 || above == 8) return 0;
  // from the first corner to the last, along the directions in each order: neighbours agree on the diagonals between them
  const int paths[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
  double area = 0;
  for (int n = 0; n < 6; ++n) area += cut_through({corners[0], corners[paths[n][0]], corners[paths[n][1]], corners[7]});
  return 0.125 * fluid * area;
}

TASK isosurface_area(Range range, In q OPTIONAL(solid), ExactPartial<1> total, Grid grid, real value, real bound) {
  STRIDES(range)
  exact_sum_cells(range, total, bound, CELL(c) { return Sums<1>{{area_within(q, solid, c, grid, value, X, Y, Z)}}; });
}
