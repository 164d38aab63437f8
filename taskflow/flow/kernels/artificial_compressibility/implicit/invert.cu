// Block ILU(0) of the matrix, which on seven points changes its diagonal alone:
// M = (D - L) D^-1 (D - U), where D = pivot - sum over earlier neighbours of A(here, there) D(there)^-1 A(there, here).
// Those in other tiles come first, and what is left then is rounded as pivots are.
#ifdef HEAT
#define ROWS 8
#else
#define ROWS 4
#endif
#define BX 256
#define BY 1
#ifdef SINGLE
#define RESIDENT 4
#else
#define RESIDENT 2
#endif
#include "cell.h"
#include "../pace.h"
#include "../viscous.h"
#include "matrix.h"
#include "columns.h"
#include "factors.h"

// A number as pivots store it
FN real rounded(real value) {
  Real_pivot stored = Real_pivot(value);
#ifndef GPU
  asm volatile("" : "+m"(stored));  // GCC 12 leaves it out where it makes vectors of these numbers
#endif
  return real(stored);
}

template <int N>
struct SideOf {
  static constexpr int number = N;
};
template <class F>
FN void each_side(F f) {
  f(SideOf<0>()), f(SideOf<1>()), f(SideOf<2>()), f(SideOf<3>());
#ifndef PLANAR
  f(SideOf<4>()), f(SideOf<5>());
#endif
}

template <class T, class S, class Geometry, class B, class Swept, class Eddies, class Aperture, class Coupling, class Pivot>
struct Elimination {
  In u, v, w;
  T heat;
  S scalar;
  B b;
  Swept swept;
  Eddies nu_t;
  Aperture aperture;
  Geometry g;
  Steps steps;
  Coupling coupling;
  Pivot pivot;
  const Numbers& numbers;

#ifndef GPU
  // The same in the tile of a cell
  INLINE auto tile(const Cell& c) const {
    using Here = Elimination<T, S, Geometry, B, Swept, Eddies, Aperture, decltype(coupling.tile(c)), Pivot>;
    return Here{u, v, w, heat, scalar, b, swept, nu_t, aperture, g, steps, coupling.tile(c), pivot, numbers};
  }
#endif
  INLINE Columns begun(const Cell& c, int first) const {
    Columns d;
#pragma unroll
    for (int r = 0; r < UNKNOWNS; ++r)
      for (int n = 0; n < OWN; ++n) d.of[r][n] = pivot(c, at(r, first + n));
    return d;
  }
  INLINE void store(const Cell& c, int first, const Columns& d) const {
#pragma unroll
    for (int r = 0; r < UNKNOWNS; ++r)
      for (int n = 0; n < OWN; ++n) pivot(c, at(r, first + n)) = d.of[r][n];
  }
  // A(there, here) of the neighbour beyond a side
  template <int SIDE>
  INLINE Columns back(const Cell& c, int first) const {
    const auto f = across<SIDE>(g, b, swept, aperture, c, steps, numbers);
    const Index beyond = f.beyond;
    const real friction = viscosity_on(nu_t, numbers, c, beyond) * f.conductance;
    const Vector there{u[beyond], v[beyond], w[beyond]}, here{u[c], v[c], w[c]}, area = real(-1) * f.area;
    Columns m = coupled_columns(first, there, here, area, friction, f.b, turned(-1, f.swept));
    add_passage(m, first, 4, heat, c, f, there + here, area, nu_t, numbers);
    add_passage(m, first, 5, scalar, c, f, there + here, area, nu_t, numbers_of(numbers, 5));
    return m;
  }
  // d - A(here, there) D(there)^-1 A(there, here)
  template <int SIDE, class Inverse>
  INLINE void take(Columns& d, const Cell& c, const Columns& back, const Inverse& inverse) const {
#ifndef GPU
    Wide rows[UNKNOWNS];
    memcpy(rows, d.of, sizeof rows);
    for (int q = 0; q < UNKNOWNS; ++q) {
      const Wide column = widened(line(coupling, c, block_of(SIDE) + UNKNOWNS * q).of);
      Wide sum = {};
      for (int l = 0; l < UNKNOWNS; ++l) sum += inverse(q, l) * widened(back.of[l]);
      for (int r = 0; r < UNKNOWNS; ++r) rows[r] -= column[r] * sum;
    }
    memcpy(d.of, rows, sizeof rows);
#else
    Columns m;
#pragma unroll
    for (int r = 0; r < UNKNOWNS; ++r) {
#pragma unroll
      for (int n = 0; n < OWN; ++n) {
        real sum = 0;
        for (int l = 0; l < UNKNOWNS; ++l) sum += inverse(r, l) * back.of[l][n];
        m.of[r][n] = sum;
      }
    }
#pragma unroll
    for (int q = 0; q < UNKNOWNS; ++q) {
      const auto row = line(coupling, c, block_of(SIDE) + UNKNOWNS * q);
#pragma unroll
      for (int l = 0; l < UNKNOWNS; ++l)
        for (int n = 0; n < OWN; ++n) d.of[BY_ROWS ? q : l][n] -= row[l] * m.of[BY_ROWS ? l : q][n];
    }
#endif
  }
  // D(there)^-1 of the neighbour beyond a side, from memory
  template <int SIDE>
  INLINE auto beyond(const Cell& c) const {
    constexpr int x = along(SIDE, 0), y = along(SIDE, 1), z = along(SIDE, 2);
    const Pivot& there = pivot;
    return [c, there](int r, int l) __attribute__((always_inline)) { return real(there(c, at(r, l), x, y, z)); };
  }
  template <int SIDE>
  INLINE void take(Columns& d, const Cell& c, int first) const {
    take<SIDE>(d, c, back<SIDE>(c, first), beyond<SIDE>(c));
  }
  // A cell of which nothing is kept or loaded ahead; threads that have none, or no column of it, come along
  INLINE void whole(const SweptCell& c, int first, bool present = true, bool stores = true) const {
    Columns d = begun(c, first);
    for (int inside = 0; inside < 2 && present; ++inside) {
      const unsigned sides = inside ? c.sides & ~c.outside : c.outside;
      each_side([&](auto side) __attribute__((always_inline)) {
        if (!(sides >> side.number & 1)) return;
        take<side.number>(d, c, first);
        for (int r = 0; r < UNKNOWNS && !inside; ++r)
          for (int n = 0; n < OWN; ++n) d.of[r][n] = rounded(d.of[r][n]);
      });
    }
    const Columns inverted = inverse(d, first, numbers);
    if (present && stores) store(c, first, inverted);
  }
};

#ifdef GPU
#include "invert_tiles.h"
#endif

TASK invert(Range range, In u, In v, In w OPTIONAL(T) OPTIONAL(scalar), InPrivate<VALUES_coupling_low, Real_coupling_low> coupling_low,
            InPrivate<VALUES_coupling_high, Real_coupling_high> coupling_high, InOutValuesOf<VALUES_pivot, Real_pivot> pivot OPTIONAL(metrics)
            OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t) OPTIONAL(aperture), Sweep sweep, Numbers numbers) {
  STRIDES(range)
  const auto g = geometry(metrics, numbers);
  const auto coupling = halves(coupling_low, coupling_high);
  const auto heat = T;
  const auto more = scalar;
  using All = Elimination<decltype(heat), decltype(more), decltype(g), decltype(b), decltype(swept), decltype(nu_t), decltype(aperture), decltype(coupling), decltype(pivot)>;
  const All all{u, v, w, heat, more, b, swept, nu_t, aperture, g, {X, Y, Z}, coupling, pivot, numbers};
#ifdef GPU
  invert_tile(range, sweep, all);
#else
  sweep_ahead(range, sweep, UP, [=](const SweptCell& cell) __attribute__((always_inline)) {
    const auto here = all.tile(cell);
    const auto one = [=](const SweptCell& c, const SweptCell& next) __attribute__((always_inline)) {
      for (int side = 0; side < 6; ++side)
        if (side % 2 == 0 || next.outside >> side & 1)
          fetch(here.coupling.place(next, block_of(side)), UNKNOWNS * sizeof(line(here.coupling, c, 0)));
      here.whole(c, 0);
    };
    return tile_function(one);
  });
#endif
}
