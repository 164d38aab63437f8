// Eddy viscosities on charts: from the velocity gradient in the centre of a cell, by Gauss' theorem with means on faces.
#include "cell.h"
#include "geometry.h"
#include "../eddies.h"

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
FN Gradient gradient(const Stored& m, const Cell& c, const Changes (&d)[AXES]) {
  Gradient g{};
  add_direction<0>(g, m, c, d[0]), add_direction<1>(g, m, c, d[1]);
#ifndef PLANAR
  add_direction<2>(g, m, c, d[2]);
#endif
  const real half = real(0.5) * m.inverse_volume(c);
  for (auto& row : g.of)
    for (real& value : row) value *= half;
  return g;
}

template <class Model>
FN void evaluate(const Range& range, In u, In v, In w, InValues<10> metrics, Out nu_t, Model model) {
  STRIDES(range)
  const Stored m{metrics};
  for_cells(range, CELL(c) {
#ifdef PLANAR
    const Changes d[AXES] = {changes(u, v, w, c, X), changes(u, v, w, c, Y)};
#else
    const Changes d[AXES] = {changes(u, v, w, c, X), changes(u, v, w, c, Y), changes(u, v, w, c, Z)};
#endif
    nu_t[c] = model(gradient(m, c, d), c, d);
  });
}

TASK smagorinsky_on_charts(Range range, In u, In v, In w, InValues<10> metrics, In filter_square, Out nu_t, Eddies eddies) {
  evaluate(range, u, v, w, metrics, nu_t, [=](const Gradient& g, const Cell& c, const Changes (&)[AXES]) __attribute__((always_inline)) {
    return filter_square[c] * strained(eddies.constant, g);
  });
}

TASK wale_on_charts(Range range, In u, In v, In w, InValues<10> metrics, In filter_square, Out nu_t, Eddies eddies) {
  evaluate(range, u, v, w, metrics, nu_t, [=](const Gradient& g, const Cell& c, const Changes (&)[AXES]) __attribute__((always_inline)) {
    return filter_square[c] * adapting(eddies.constant, g);
  });
}

// The minors are those of how the velocity changes from cell to cell along the lines of a grid: on upright cells the gradient times
// their sizes.
TASK vreman_on_charts(Range range, In u, In v, In w, InValues<10> metrics, Out nu_t, Eddies eddies) {
  evaluate(range, u, v, w, metrics, nu_t, [=](const Gradient& g, const Cell&, const Changes (&d)[AXES]) __attribute__((always_inline)) {
    Gradient along{};
    for (int a = 0; a < AXES; ++a) {
      const Vector twice = d[a].before + d[a].behind;
      along.of[0][a] = real(0.5) * twice.x, along.of[1][a] = real(0.5) * twice.y, along.of[2][a] = real(0.5) * twice.z;
    }
    return vanishing(eddies.constant, (minors(along, 0) + minors(along, 1)) + minors(along, 2), g);
  });
}
