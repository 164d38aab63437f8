// The neighbours of a cell along an axis. Beyond walls cells are mirrored: a wall shows the n-th cell inside as the n-th beyond.
// Where `LEANING` is defined, values beyond the sides in `band.leaning` are on the line through the last two inside.
#include "../metrics.h"

struct Line {
  Index step;
  real inverse;        // one over the spacing
  int before, behind;  // cells between this one and the wall on the low, and on the high side
#ifdef LEANING
  int leaning;  // of both sides, bits 0 and 1

  INLINE real beyond(In q, Index c, Index way, int n, int room, int other, bool leans) const {
    if (!leans | (n <= room)) return q[c + way * mirrored(n, room, other)];
    const Index end = c + way * room, inner = room + other > 0 ? end - way : end;
    return q[end] + real(n - room) * (q[end] - q[inner]);
  }
  INLINE real low(In q, Index c, int n) const { return beyond(q, c, -step, n, before, behind, leaning & 1); }
  INLINE real high(In q, Index c, int n) const { return beyond(q, c, step, n, behind, before, leaning & 2); }
#else
  // The value in the n-th neighbour, 1 to 3
  INLINE real low(In q, Index c, int n) const { return q[c + low(n)]; }
  INLINE real high(In q, Index c, int n) const { return q[c + high(n)]; }
#endif

  // The offset of the n-th neighbour, 1 to 3
  INLINE Index low(int n) const { return -step * mirrored(n, before, behind); }
  INLINE Index high(int n) const { return step * mirrored(n, behind, before); }

  // n cells away towards a wall that has `room` cells before it; between two walls a single cell is mirrored three times
  static INLINE int mirrored(int n, int room, int other) {
    const int once = n <= room ? n : 2 * room + 1 - n, twice = -once <= other ? once : -2 * other - 1 - once;
    return twice <= room ? twice : 2 * room + 1 - twice;
  }
};

// Whether nothing is read beyond boundaries along an axis, as the compiler sees it of cells that are inner, or amid
template <class C>
FN bool is_far(const C&, int number) { return number == 0 ? C::amid : C::inner; }

template <class C>
FN Line line(const Grid& g, int number, const C& c, Index step) {
  const int first = g.first[number], last = g.last[number], cell = index(c, number), nowhere = 1 << 20;
  const bool far = is_far(c, number);
  return {step, axis(g, number, cell, step).per_cell(), far || first < 0 ? nowhere : cell - first,
          far || last < 0 ? nowhere : last - cell};
}

template <class C, class Lengths>
FN Line line(const Grid& g, int number, const C& c, Index step, const Lengths& band) {
  Line all = line(g, number, c, step);
#ifdef LEANING
  all.leaning = band.leaning >> (2 * number);
#endif
  return all;
}

struct Lines {
  Line x, y, z;
};

template <class C, class... Lengths>
FN Lines lines(const Grid& g, const C& c, Index X, Index Y, Index Z, const Lengths&... band) {
  return {line(g, 0, c, X, band...), line(g, 1, c, Y, band...), line(g, 2, c, Z, band...)};
}

// The cells of which no neighbour is mirrored
FN InteriorAmid clear_of_walls(const Grid& g) {
  const auto before = [&](int axis) { return g.last[axis] < 0 ? 1 << 30 : g.last[axis] - 3; };
  return {{{g.first[1] + 3, g.first[2] + 3}, {before(1), before(2)}, false}, g.first[0] + 3, before(0)};
}

// The change over a spacing, and the derivative, by central differences of second order
FN real change(In q, Index c, const Line& a) { return real(0.5) * (a.high(q, c, 1) - a.low(q, c, 1)); }
FN real slope(In q, Index c, const Line& a) { return real(0.5) * a.inverse * (a.high(q, c, 1) - a.low(q, c, 1)); }
