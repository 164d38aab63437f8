// What passes through faces of cells across an axis, the low or the high ones: volume, momentum, and what the flow carries.
#define UZ 32
#include "cell.h"
#include "exact_sums.h"
#include "metrics.h"

// A viscosity or a diffusivity on the face between two cells
struct Molecular {
  real value;
  INLINE double on(Index, Index) const { return value; }
};
struct Stirred {
  real value, part;  // of the eddy viscosity that is added
  In nu_t;
  INLINE double on(Index low, Index high) const { return value + part * (0.5 * (double(nu_t[low]) + nu_t[high])); }
};

// A face across axis number a of the grid, with the two cells beside it; b and d are the other directions
struct Face {
  Index low, high;
  Axis a, b, d;
  int numbers[3];
  bool at_low_end, at_high_end;  // of the domain
};

FN Face face_of(const Grid& g, int number, bool high, const Cell& c, Index X, Index Y, Index Z) {
  const int second = (number + 1) % 3, third = (number + 2) % 3;
  int place[3] = {c.i, c.j, c.k};
  const Index steps[3] = {X, Y, Z}, behind = c + (high ? steps[number] : 0);
  place[number] += high;
  const auto along = [&](int n) { return axis(g, n, place[n], steps[n]); };
  return {behind - steps[number], behind, along(number), along(second), along(third), {number, second, third},
          place[number] == g.first[number], place[number] - 1 == g.last[number]};
}

// du_a/da on the face, from the cells beside it that are in the domain
FN double stretched_along(In q, const Face& f) {
  const double behind = double(f.a.per_cell(-1)) * (double(q[f.high]) - q[f.low]);
  const Index next = f.at_high_end ? f.high : f.high + f.a.step;
  const double ahead = double(f.a.per_cell()) * (double(q[next]) - q[f.high]);
  return f.at_low_end ? ahead : f.at_high_end ? behind : 0.5 * (behind + ahead);
}

// Momentum along b, per area and time: u_b u_a - nu (du_b/da + du_a/db), u_b being the mean of four faces
FN double sideways(In q, In r, const Face& f, Axis b, double nu) {
  const double low = double(r[f.low]) + r[f.low + b.step], high = double(r[f.high]) + r[f.high + b.step];
  const double rise = double(q[f.high + b.step]) - q[f.high - b.step];
  const double shear = f.a.per_face() * (0.5 * (high - low)) + b.per_two_cells() * rise;
  return 0.25 * (low + high) * q[f.high] - nu * shear;
}

// u_a, and u u_a + p - nu (grad u + grad u^T), along x, y, z; where the domain ends p is that of the cell beside the face
template <class Viscosity>
struct FlowThrough {
  static constexpr int COUNT = 4;
  In u, v, w, p;
  Viscosity viscosity;

  INLINE Sums<COUNT> on(const Face& f) const {
    const In velocities[3] = {u, v, w};
    const In q = velocities[f.numbers[0]], r = velocities[f.numbers[1]], s = velocities[f.numbers[2]];
    const double speed = q[f.high], nu = viscosity.on(f.low, f.high);
    const double pressure = f.at_low_end ? p[f.high] : f.at_high_end ? p[f.low] : 0.5 * (double(p[f.low]) + p[f.high]);
    Sums<COUNT> found;
    found.of[0] = speed;
    found.of[1 + f.numbers[0]] = speed * speed + pressure - 2 * nu * stretched_along(q, f);
    found.of[1 + f.numbers[1]] = sideways(q, r, f, f.b, nu);
    found.of[1 + f.numbers[2]] = sideways(q, s, f, f.d, nu);
    return found;
  }
};

// c u_a - diffusivity dc/da
template <class Diffusivity>
struct CarriedThrough {
  static constexpr int COUNT = 1;
  In c, u, v, w;
  Diffusivity diffusivity;

  INLINE Sums<COUNT> on(const Face& f) const {
    const In velocities[3] = {u, v, w};
    const double low = c[f.low], high = c[f.high], speed = velocities[f.numbers[0]][f.high];
    return {{0.5 * speed * (low + high) + diffusivity.on(f.low, f.high) * f.a.per_face() * (low - high)}};
  }
};

// The largest magnitude of what passes, and the exact sums of it, each times the area of its face
template <class Through>
FN void largest(const Range& range, Partial bound, const Grid& grid, Sheet sheet, Through through) {
  STRIDES(range)
  reduce_cells(range, bound, MAX, CELL(c) {
    const Sums<Through::COUNT> found = through.on(face_of(grid, sheet.axis, sheet.high, c, X, Y, Z));
    double most = 0;
    for (int n = 0; n < Through::COUNT; ++n) most = Max::fold(most, found.of[n] < 0 ? -found.of[n] : found.of[n]);
    return area(grid, sheet.axis, c) * most;
  });
}
template <class Through>
FN void sum_up(const Range& range, const Partial (&parts)[3 * Through::COUNT], In64 bound, const Grid& grid, Sheet sheet, Through through) {
  STRIDES(range)
  sum_cells(range, parts, CELL(c) {
    const Sums<Through::COUNT> found = through.on(face_of(grid, sheet.axis, sheet.high, c, X, Y, Z));
    Sums<3 * Through::COUNT> cuts;
    for (int n = 0; n < Through::COUNT; ++n) {
      const Sums<3> one = cut(area(grid, sheet.axis, c) * found.of[n], *bound);
      for (int m = 0; m < 3; ++m) cuts.of[3 * n + m] = one.of[m];
    }
    return cuts;
  });
}

TASK largest_flow(Range range, In u, In v, In w, In p, Partial bound, Grid grid, Sheet sheet, real viscosity) {
  largest(range, bound, grid, sheet, FlowThrough<Molecular>{u, v, w, p, {viscosity}});
}
TASK flow_through(Range range, In u, In v, In w, In p, Partial total_volume, Partial rest_volume,
                  Partial last_volume, Partial total_x, Partial rest_x, Partial last_x, Partial total_y,
                  Partial rest_y, Partial last_y, Partial total_z, Partial rest_z, Partial last_z, In64 bound, Grid grid,
                  Sheet sheet, real viscosity) {
  sum_up(range, {total_volume, rest_volume, last_volume, total_x, rest_x, last_x, total_y, rest_y, last_y, total_z, rest_z,
                 last_z}, bound, grid, sheet, FlowThrough<Molecular>{u, v, w, p, {viscosity}});
}
TASK largest_flow_eddy(Range range, In u, In v, In w, In p, In nu_t, Partial bound, Grid grid, Sheet sheet, real viscosity) {
  largest(range, bound, grid, sheet, FlowThrough<Stirred>{u, v, w, p, {viscosity, 1, nu_t}});
}
TASK flow_through_eddy(Range range, In u, In v, In w, In p, In nu_t, Partial total_volume, Partial rest_volume,
                       Partial last_volume, Partial total_x, Partial rest_x, Partial last_x, Partial total_y,
                       Partial rest_y, Partial last_y, Partial total_z, Partial rest_z, Partial last_z, In64 bound, Grid grid,
                       Sheet sheet, real viscosity) {
  sum_up(range, {total_volume, rest_volume, last_volume, total_x, rest_x, last_x, total_y, rest_y, last_y, total_z, rest_z,
                 last_z}, bound, grid, sheet, FlowThrough<Stirred>{u, v, w, p, {viscosity, 1, nu_t}});
}

TASK largest_carried(Range range, In c, In u, In v, In w, Partial bound, Grid grid, Sheet sheet, real diffusivity) {
  largest(range, bound, grid, sheet, CarriedThrough<Molecular>{c, u, v, w, {diffusivity}});
}
TASK carried_through(Range range, In c, In u, In v, In w, Partial total, Partial rest, Partial last, In64 bound, Grid grid,
                     Sheet sheet, real diffusivity) {
  sum_up(range, {total, rest, last}, bound, grid, sheet, CarriedThrough<Molecular>{c, u, v, w, {diffusivity}});
}
TASK largest_carried_eddy(Range range, In c, In u, In v, In w, In nu_t, Partial bound, Grid grid, Sheet sheet, real diffusivity,
                          real part) {
  largest(range, bound, grid, sheet, CarriedThrough<Stirred>{c, u, v, w, {diffusivity, part, nu_t}});
}
TASK carried_through_eddy(Range range, In c, In u, In v, In w, In nu_t, Partial total, Partial rest, Partial last, In64 bound,
                          Grid grid, Sheet sheet, real diffusivity, real part) {
  sum_up(range, {total, rest, last}, bound, grid, sheet, CarriedThrough<Stirred>{c, u, v, w, {diffusivity, part, nu_t}});
}
