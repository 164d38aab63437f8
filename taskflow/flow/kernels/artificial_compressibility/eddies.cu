// Eddy viscosities on charts: from the velocity gradient in the centre of a cell, by Gauss' theorem with means on faces.
#include "cell.h"
#include "geometry.h"
#ifdef HAS_filter_square
#define FILTERED
#endif
#include "../closures/local.h"

#ifdef PLANAR
constexpr int AXES = 2;
#else
constexpr int AXES = 3;
#endif

// How the velocity changes from the cell before, and to the one behind
struct Changes {
  Vector before, behind;
};
FN Changes changes(In u, In v, In w, Index c, Index A) {
  const Vector before{u[c - A], v[c - A], w[c - A]}, here{u[c], v[c], w[c]}, behind{u[c + A], v[c + A], w[c + A]};
  return {here - before, behind - here};
}
FN void add(real (&row)[3], real f, Vector s) { row[0] += f * s.x, row[1] += f * s.y, row[2] += f * s.z; }

// grad q = sum over directions of (S_low (q - q_before) + S_high (q_behind - q)) / (2 V): what is uniform has none, to the bit
template <int D>
FN void add_direction(Gradient& g, const Stored& m, const Cell& c, const Changes& d) {
  const Vector low = m.face<D>(c), high = m.face<D>(c, D == 0, D == 1, D == 2);
  add(g.of[0], d.before.x, low), add(g.of[0], d.behind.x, high);
  add(g.of[1], d.before.y, low), add(g.of[1], d.behind.y, high);
  add(g.of[2], d.before.z, low), add(g.of[2], d.behind.z, high);
}
FN Gradient gradient(const Stored& m, const Cell& c, const Changes (&d)[AXES], real per_length) {
  Gradient g{};
  add_direction<0>(g, m, c, d[0]), add_direction<1>(g, m, c, d[1]);
#ifndef PLANAR
  add_direction<2>(g, m, c, d[2]);
#endif
  const real half = real(0.5) * m.inverse_volume(c) * per_length;
  for (auto& row : g.of)
    for (real& value : row) value *= half;
  return g;
}

// The changes over one cell along the lines of the grid: half of those from the cell before to the one behind
FN Gradient along_lines(const Changes (&d)[AXES]) {
  Gradient change{};
  for (int a = 0; a < AXES; ++a) {
    const Vector twice = d[a].before + d[a].behind;
    change.of[0][a] = real(0.5) * twice.x, change.of[1][a] = real(0.5) * twice.y, change.of[2][a] = real(0.5) * twice.z;
  }
  return change;
}

FN None in_cell(None, Index, real) { return {}; }
FN real in_cell(In filter_square, Index c, real area) { return area * filter_square[c]; }

TASK eddies_on_charts(Range range, In u, In v, In w, InValues<10> metrics OPTIONAL(filter_square), Out nu_t, Closure closure,
                      UnitFactors factors) {
  STRIDES(range)
  const Stored m{metrics};
  for_cells(range, CELL(c) {
#ifdef PLANAR
    const Changes d[AXES] = {changes(u, v, w, c, X), changes(u, v, w, c, Y)};
#else
    const Changes d[AXES] = {changes(u, v, w, c, X), changes(u, v, w, c, Y), changes(u, v, w, c, Z)};
#endif
    const auto filter = in_cell(filter_square, c, factors.area);
    nu_t[c] = factors.viscosity * viscosity(closure, local(gradient(m, c, d, factors.per_length), along_lines(d), filter));
  });
}
