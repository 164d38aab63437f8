// A triangular solve on a CPU, which does the rows of a cell side by side: see sweep_rows.h.
template <int ODD, class Coupling, class Inverse>
struct Triangle {
  Coupling coupling;
  Inverse inverse;
  Each<In> right;
  Each<InOut> x;

  // The same in the tile of a cell
  INLINE auto tile(const Cell& c) const {
    using Here = Triangle<ODD, decltype(coupling.tile(c)), decltype(inverse.tile(c))>;
    return Here{coupling.tile(c), inverse.tile(c), right, x};
  }
  INLINE void fetch(const SweptCell& c) const {
    for (int axis = 0; axis < 3; ++axis) fetch_side(c, 2 * axis + ODD);
    ::fetch(inverse.place(c, 0), UNKNOWNS * sizeof(line(inverse, c, 0)));
  }
  INLINE void fetch_side(const SweptCell& c, int side) const { ::fetch(coupling.place(c, block_of(side)), UNKNOWNS * sizeof(line(coupling, c, 0))); }
  // Two lines each, as rows begin anywhere
  INLINE void fetch_values(const Cell& c) const {
    for (int n = 0; n < UNKNOWNS; ++n)
      for (int m = 0; m < 8; m += 7) {
        if (!ODD) __builtin_prefetch(right[n] + Index(c) + m);
        __builtin_prefetch(x[n] + Index(c) + m, 1);
      }
  }
  INLINE Wide values(Index cell) const {
    return wide_of([&](int n) { return x[n][cell]; });
  }
  INLINE Wide begin(Index cell) const {
    if (ODD) return Wide{};
    return wide_of([&](int n) { return right[n][cell]; });
  }
  INLINE Wide brought(const SweptCell& c, int side, const Wide& z) const { return times(coupling, c, block_of(side), z); }
  INLINE Wide end(const SweptCell& c, const Wide& sums) const {
    Wide z = times(inverse, c, 0, sums);
    if (ODD) z += values(c);
    for (int n = 0; n < UNKNOWNS; ++n) x[n][c] = z[n];
    return z;
  }

private:
  template <class Blocks>
  INLINE static Wide times(const Blocks& of, const SweptCell& c, int first, const Wide& z) {
    const auto term = [&](int n) { return z[n] * widened(line(of, c, first + UNKNOWNS * n).of); };
    const Wide one = (term(0) + term(1)) + (term(2) + term(3));
    return UNKNOWNS == 6 ? one + (term(4) + term(5)) : UNKNOWNS == 5 ? one + term(4) : one;
  }
};
