// Shares in ghost cells of walls: the planes of cells at a wall, extended. N leads one cell into the domain.
#define UZ 1
#include "cell.h"
#include "heights.h"

// Cells along the axis, into the domain, and along both others
struct Steps {
  int n, r, s;
};
template <class C>
FN Cell moved(const C& c, const Steps& o, const Range& range) {
  FRAME(range)
  const int n = HIGH ? -o.n : o.n;
  return {c.i + (AXIS == 0 ? n : o.r), c.j + (AXIS == 1 ? n : AXIS == 0 ? o.r : o.s), c.k + (AXIS == 2 ? n : o.s),
          c.offset + o.n * N + o.r * R + o.s * S};
}

// The line along an axis
FN const Line& along(const Lines& a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

// Whether cell n along an axis is between walls, and that cell or the nearest one that has a neighbour on both sides
FN bool is_inside(const Grid& g, int axis, int n) {
  return (g.first[axis] < 0 || n >= g.first[axis]) & (g.last[axis] < 0 || n <= g.last[axis]);
}
FN int off_walls(const Grid& g, int axis, int n) {
  const int high = g.last[axis] < 0 ? n : min(n, g.last[axis] - 1);
  const int low = g.first[axis] < 0 ? high : max(high, g.first[axis] + 1);
  return g.last[axis] < 0 ? low : min(low, g.last[axis]);  // a single cell has none
}

// Calls f(r, s) for the nearest cells along a wall for which it returns true: the cell itself, adjacent, or diagonal ones
template <class F>
FN void nearest(F f) {
  bool found = false;
  for (int rank = 0; rank < 3 && !found; ++rank)
    for (int n = 0; n < 9; ++n) {
      const int r = n % 3 - 1, s = n / 3 - 1;
      if (abs(r) + abs(s) == rank) found |= f(r, s);
    }
}

// Below the plane of a cell with the share f, the share of a cell `o` cells away
FN real extended(real f, const Normal& m, const Steps& o) {
  const Normal own = AXIS == 0 ? m : AXIS == 1 ? Normal{m.y, m.x, m.z} : Normal{m.z, m.x, m.y};
  const Ordered sizes = ordered(magnitude(m.x), magnitude(m.y), magnitude(m.z));
  return share_below(sizes, plane_of(sizes, f) - ((HIGH ? -o.n : o.n) * own.x + o.r * own.y + o.s * own.z));
}

// Shares of ghost cells: those of the plane in the cell at the wall or, if it has none, the mean over planes of the nearest ones
// along the wall, else the cell's own share. `normal_in` gives normals in cells at the wall.
template <class F>
FN void extend(const Range& range, InOut f, const Grid& grid, int layer, F normal_in) {
  for_cells(range, CELL(c) {
    real sum = 0;
    int planes = 0;
    nearest([&](int r, int s) {
      const Cell wall = moved(c, {layer, r, s}, range);
      const bool known = (r == 0 || is_inside(grid, AXIS_R, index(wall, AXIS_R))) &
                         (s == 0 || is_inside(grid, AXIS_S, index(wall, AXIS_S))) & is_bent(f[wall]);
      const Normal m = known ? normal_in(wall) : Normal{0, 0, 0};
      if (steepness(m) == 0) return false;
      sum += extended(f[wall], m, {-layer, -r, -s});
      ++planes;
      return true;
    });
    f[c] = planes > 0 ? sum / real(planes) : f[moved(c, {layer, 0, 0}, range)];
  });
}

// Steps along an axis: between the cells whose difference over two is a slope, and one and two cells off a side at which the cell is
struct Ways {
  Index low, high, one, two;
  real inward;
};
FN Ways ways(const Line& a) {
  if (a.before == 0) return {0, a.high(2), a.high(1), a.high(2), 1};
  if (a.behind == 0) return {a.low(2), 0, a.low(1), a.low(2), -1};
  return {a.low(1), a.high(1), 0, 0, 0};
}
FN real change_inwards(In f, Index c, const Ways& a) { return f[c] - f[c + a.one]; }

// The normal of an interface along the side of an axis, by heights across the side
FN Normal along_side(In f, Index c, int axis, const Ways (&a)[3]) {
  const Ways own = a[axis];
  const auto component = [&](int b) {
    const auto column = [&](Index at) { return f[at] + f[at + own.one] + f[at + own.two]; };
    return real(0.5) * (column(c + a[b].low) - column(c + a[b].high));
  };
  const real change = change_inwards(f, c, own), across = change > 0 ? own.inward : change < 0 ? -own.inward : real(0);
  return scaled({axis == 0 ? across : component(0), axis == 1 ? across : component(1), axis == 2 ? across : component(2)});
}

// The interface meets a wall as it comes: in cells at the wall it has the mean normal of the nearest cells one farther in. Where none
// of these is cut it is along the wall or, where the share changes more than twice as much off another side, along that one. Other
// walls mirror shares: their ghost cells may not be filled yet.
TASK extend_planes(Range range, InOut f, Grid grid, WallLayer wall) {
  FRAME(range)
  extend(range, f, grid, wall.layer, [=](const Cell& c) {
    Normal sum{0, 0, 0};
    nearest([&](int r, int s) {
      const int by_r = off_walls(grid, AXIS_R, index(c, AXIS_R) + r) - index(c, AXIS_R);
      const int by_s = off_walls(grid, AXIS_S, index(c, AXIS_S) + s) - index(c, AXIS_S);
      const Cell inner = moved(c, {1, by_r, by_s}, range);
      if (!is_bent(f[inner])) return false;
      const Normal m = normal(f, inner, lines(grid, inner, X, Y, Z));
      sum = {sum.x + m.x, sum.y + m.y, sum.z + m.z};
      return steepness(m) > 0;
    });
    if (steepness(sum) > 0) return scaled(sum);
    const Lines a = lines(grid, c, X, Y, Z);
    const Ways all[3] = {ways(a.x), ways(a.y), ways(a.z)};
    int axis = AXIS;
    real most = magnitude(change_inwards(f, c, all[AXIS]));
    for (int other = 0; other < 3; ++other) {
      const real half = real(0.5) * magnitude(change_inwards(f, c, all[other]));
      if (half > most) most = half, axis = other;
    }
    return along_side(f, c, axis, all);
  });
}

// The interface beyond a wall that it meets at an angle, as a height along an axis over cells below the wall: from the height in the row
// of cells at the wall and the slope on it, and bent as the height one row farther in tells. `known` is false without a height.
struct Parabola {
  real height, slope, bend;  // in cells, from the middle of the cell that it begins in
  INLINE real at(int layer) const { return height + real(layer) * slope + real(layer * (layer - 1)) * real(0.5) * bend; }
  INLINE real slope_at(int layer) const { return slope + (real(layer) - real(0.5)) * bend; }
};
FN Parabola beyond_wall(In f, Index c, Index N, const Line& a, bool up, real slope, bool& known) {
  const int back = slope > 0 ? min(int(slope + real(0.5)), 2) : max(int(slope - real(0.5)), -2);  // to the interface in the next row
  const int cells = up ? -back : back, steps = abs(cells);
  bool farther = true;
  known = true;
  const real first = height({f, c, a, up}, known);
  const Index next = c + N + (cells < 0 ? a.low(steps) : cells > 0 ? a.high(steps) : 0);
  const Line there = cells < 0 ? Line{a.step, a.inverse, a.before - steps, a.behind + steps} : Line{a.step, a.inverse, a.before + steps, a.behind - steps};
  const bool inside = (there.before >= 0) & (there.behind >= 0);
  const real second = inside ? height({f, next, there, up}, farther) - real(back) : real(0);
  return {first, slope, farther & inside ? second - first + slope : real(0)};
}

constexpr int SOUGHT = 2;  // how many cells away along a wall an interface is sought

// The direction of the normal along the wall is that of Youngs' gradient in a cell at the wall.
TASK extend_wetting_planes(Range range, InOut f, Grid grid, WetLayer wall) {
  FRAME(range)
  const In shares = f;
  for_cells(range, CELL(c) {
    const Cell first = moved(c, {wall.layer, 0, 0}, range);
    real sum = 0;
    int found = 0;
    for (int n = 0; n < 4 * SOUGHT + 4 && (found == 0 || n % 4 > 0); ++n) {
      const bool along_r = n & 2;
      const int away = n & 1 ? -(n / 4) : n / 4, axis = along_r ? AXIS_R : AXIS_S, across = along_r ? AXIS_S : AXIS_R;
      const Cell begun = moved(first, along_r ? Steps{0, away, 0} : Steps{0, 0, away}, range);
      if (!is_inside(grid, axis, index(begun, axis)) || !is_bent(shares[begun])) continue;
      const Lines a = lines(grid, begun, X, Y, Z);
      const Line line = along(a, axis), beside = along(a, across);
      const auto gradient = [&](const Line& b, const Line& d) {
        const auto sum = [&](Index at) { return shares[at + d.low(1)] + 2 * shares[at] + shares[at + d.high(1)]; };
        return sum(begun + b.low(1)) - sum(begun + b.high(1));
      };
      const real main = gradient(line, beside) * grid.inverse[axis], side = gradient(beside, line) * grid.inverse[across];
      if (main == 0 || magnitude(main) < magnitude(side)) continue;
      const real length = 1 / grid.inverse[axis], steep = 1 / magnitude(main), tilt = side * steep;
      const real slope = wall.cotangent * sqrt(1 + tilt * tilt) / (grid.inverse[AXIS] * length);
      bool known = true;
      const Parabola curve = beyond_wall(shares, begun, N, line, main > 0, slope, known);
      if (!known) continue;
      const real inward = curve.slope_at(wall.layer), size = 1 / (1 + magnitude(inward) + magnitude(tilt / (grid.inverse[across] * length)));
      const Ordered m = ordered(size, size * magnitude(inward), 1 - size * (1 + magnitude(inward)));
      sum += share_below(m, size * (curve.at(wall.layer) + real(main > 0 ? away : -away)) + real(0.5));
      ++found;
    }
    f[c] = found > 0 ? sum / real(found) : shares[first];
  });
}
