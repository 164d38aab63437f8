// What lies beyond a face: another cell, or a side of the grid. No cell but the outermost ones of a range has a side: charts end
// where ranges end. A CPU makes a vector loop of those within, without any choice.

enum Side { INTERIOR, CLOSED, GIVEN, OPEN, FAR };  // as `sides` has it of the cell beyond

struct Outermost : Cell {
  static constexpr bool within = false;
};
struct Within : Cell {
  static constexpr bool within = true;
};

// Of the face on side M of a cell, A being the step across it
template <int M, class C>
FN int side_of(InByte sides, const C& c, Index A) {
  if constexpr (C::within) return INTERIOR;
  return sides[M ? Index(c) + A : Index(c) - A];
}

#ifdef GPU
FN real selected(bool take, real a, real b) { return take ? a : b; }
template <class F>
FN void for_cells_and_sides(const Range& r, F f) {
  for_cells(r, CELL(c) { f(Outermost{c}); });
}
#else
// a where `take`, else b, by bits: of selections GCC makes no vector loop
FN float selected(bool take, float a, float b) {
  unsigned one, other, mask = take ? ~0u : 0u;
  memcpy(&one, &a, sizeof(one)), memcpy(&other, &b, sizeof(other));
  one = (one & mask) | (other & ~mask);
  memcpy(&a, &one, sizeof(one));
  return a;
}
FN double selected(bool take, double a, double b) {
  unsigned long long one, other, mask = take ? ~0ull : 0ull;
  memcpy(&one, &a, sizeof(one)), memcpy(&other, &b, sizeof(other));
  one = (one & mask) | (other & ~mask);
  memcpy(&a, &one, sizeof(one));
  return a;
}

template <class F>
FN void for_cells_and_sides(const Range& r, F f) {
#ifdef PLANAR
  constexpr int axes = 2;
#else
  constexpr int axes = 3;
#endif
  const auto outermost = [=](Cell c) __attribute__((always_inline)) { f(Outermost{c}); };
  Range inner = r, layers[2 * axes];
  for (int n = 0, axis = axes - 1; axis >= 0; --axis) {
    for (int high = 0; high < 2; ++high, ++n) {
      layers[n] = inner;
      (high ? layers[n].lo : layers[n].hi)[axis] = high ? inner.hi[axis] - 1 : inner.lo[axis] + 1;
      if (high && inner.hi[axis] - inner.lo[axis] < 2) layers[n].lo[axis] = inner.hi[axis];
    }
    ++inner.lo[axis], --inner.hi[axis];
  }
  for_cells(inner, [=](Cell c) __attribute__((always_inline)) { f(Within{c}); });
#pragma GCC unroll 1  // one copy of the code for all
  for (int n = 0; n < 2 * axes; ++n) for_cells(layers[n], outermost);
}
#endif
