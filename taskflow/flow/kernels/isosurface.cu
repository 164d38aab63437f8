// The surface on which q has a value, its area and the volume above: marching tetrahedra between the centres of cells.
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

// The corners of a tetrahedron, `count` above first
struct Sorted {
  Corner c[4];
  int count;
};
FN Sorted sorted(const Corner (&given)[4]) {
  Sorted s;
  int count = 0, last = 3;
  for (int n = 0; n < 4; ++n) {
    if (given[n].above > 0) {
      s.c[count++] = given[n];
    } else {
      s.c[last--] = given[n];
    }
  }
  s.count = count;
  return s;
}

// A tetrahedron in which q is linear is cut in a triangle or a quadrilateral
FN double cut_through(const Corner (&given)[4]) {
  const Sorted sorted_corners = sorted(given);
  const Corner (&c)[4] = sorted_corners.c;
  const int count = sorted_corners.count;
  if (count == 1) return triangle(crossing(c[0], c[1]), crossing(c[0], c[2]), crossing(c[0], c[3]));
  if (count == 3) return triangle(crossing(c[0], c[3]), crossing(c[1], c[3]), crossing(c[2], c[3]));
  if (count != 2) return 0;
  const Point a = crossing(c[0], c[2]), b = crossing(c[0], c[3]), d = crossing(c[1], c[2]), e = crossing(c[1], c[3]);
  return triangle(a, b, e) + triangle(a, e, d);
}

// The share of a tetrahedron above: between one corner and three, or between two and two in three smaller ones
FN double share_above(const Corner (&given)[4]) {
  const Sorted s = sorted(given);
  const auto part = [&](int a, int b) { return s.c[a].above / (s.c[a].above - s.c[b].above); };
  if (s.count == 1) return part(0, 1) * part(0, 2) * part(0, 3);
  if (s.count == 3) return 1 - part(3, 0) * part(3, 1) * part(3, 2);
  if (s.count != 2) return s.count == 4;
  const double a = part(0, 2), b = part(0, 3), d = part(1, 2), e = part(1, 3);
  return d * e + a * (1 - d) * e + a * b * (1 - e);
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

// The box between the centres of cell c and of the next cells along all directions, or the boundaries of the domain
struct Between {
  Corner corners[8];
  double volume;
  int above, fluid;
};
template <class Solid>
FN Between between(In q, const Solid& solid, const Cell& c, const Grid& g, double value, Index X, Index Y, Index Z) {
  const Span x = span(axis(g, 0, c.i, X), c.i, g.first[0], g.last[0]);
  const Span y = span(axis(g, 1, c.j, Y), c.j, g.first[1], g.last[1]);
  const Span z = span(axis(g, 2, c.k, Z), c.k, g.first[2], g.last[2]);
  Between box;
  box.volume = x.length * y.length * z.length, box.above = 0, box.fluid = 0;
  for (int n = 0; n < 8; ++n) {
    const Place px = n & 1 ? x.high : x.low, py = n & 2 ? y.high : y.low, pz = n & 4 ? z.high : z.low;
    const Index at = c + px.inside * X + py.inside * Y + pz.inside * Z;
    const In cell = q + at;
    const double here = *cell;
    const double over = (cell[px.beyond * X] - here) + (cell[py.beyond * Y] - here) + (cell[pz.beyond * Z] - here);
    box.corners[n] = {{n & 1 ? x.length : 0, n & 2 ? y.length : 0, n & 4 ? z.length : 0}, here + 0.5 * over - value};
    box.above += box.corners[n].above > 0, box.fluid += !is_solid(solid, at);
  }
  return box;
}

// What its six tetrahedra give, in sum
template <class F>
FN double in_tetrahedra(const Between& box, F f) {
  const Corner (&corners)[8] = box.corners;
  // from the first corner to the last, along the directions in each order: neighbours agree on the diagonals between them
  const int paths[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
  double sum = 0;
  for (int n = 0; n < 6; ++n) sum += f({corners[0], corners[paths[n][0]], corners[paths[n][1]], corners[7]});
  return sum;
}

// Next to bodies, whose surfaces are midway between centres, both are the part in the fluid.
FN double area_in(const Between& box) {
  if (box.above == 0 || box.above == 8) return 0;
  return 0.125 * box.fluid * in_tetrahedra(box, [](const Corner (&c)[4]) { return cut_through(c); });
}
FN double volume_in(const Between& box) {
  if (box.above == 0) return 0;
  const double share = box.above == 8 ? 6 : in_tetrahedra(box, [](const Corner (&c)[4]) { return share_above(c); });
  return 0.125 * box.fluid * box.volume * (share / 6);
}

TASK isosurface_area(Range range, In q OPTIONAL(solid), ExactPartial<1> total, Grid grid, real value, real bound) {
  STRIDES(range)
  exact_sum_cells(range, total, bound, CELL(c) { return Sums<1>{{area_in(between(q, solid, c, grid, value, X, Y, Z))}}; });
}

// both = the volume with q above the value, and all of it
TASK volume_above(Range range, In q OPTIONAL(solid), ExactPartial<2> both, Grid grid, real value, real bound) {
  STRIDES(range)
  exact_sum_cells(range, both, Sums<2>{{bound, bound}}, CELL(c) {
    const Between box = between(q, solid, c, grid, value, X, Y, Z);
    return Sums<2>{{volume_in(box), 0.125 * box.fluid * box.volume}};
  });
}
