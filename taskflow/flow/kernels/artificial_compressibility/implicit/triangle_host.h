// A triangular solve on a CPU, which does the four rows of a cell side by side: see sweep_rows.h.
template <int ODD, class Coupling, class Inverse>
struct Triangle {
  Coupling coupling;
  Inverse inverse;
  In right[4];
  InOut x[4];

  // The same in the tile of a cell
  INLINE auto tile(const Cell& c) const {
    using Here = Triangle<ODD, decltype(coupling.tile(c)), decltype(inverse.tile(c))>;
    return Here{coupling.tile(c), inverse.tile(c), {right[0], right[1], right[2], right[3]}, {x[0], x[1], x[2], x[3]}};
  }
  INLINE void fetch(const SweptCell& c) const {
    for (int axis = 0; axis < 3; ++axis) fetch_side(c, 2 * axis + ODD);
    ::fetch(inverse.place(c, 0), 4 * sizeof(inverse.four(c, 0)));
  }
  INLINE void fetch_side(const SweptCell& c, int side) const { ::fetch(coupling.place(c, block_of(side)), 4 * sizeof(coupling.four(c, 0))); }
  // Two lines each, as rows begin anywhere
  INLINE void fetch_values(const Cell& c) const {
    for (int n = 0; n < 4; ++n)
      for (int m = 0; m < 8; m += 7) {
        if (!ODD) __builtin_prefetch(right[n] + Index(c) + m);
        __builtin_prefetch(x[n] + Index(c) + m, 1);
      }
  }
  INLINE Quad values(Index cell) const { return Quad{x[0][cell], x[1][cell], x[2][cell], x[3][cell]}; }
  INLINE Quad begin(Index cell) const {
    if (ODD) return Quad{};
    return Quad{right[0][cell], right[1][cell], right[2][cell], right[3][cell]};
  }
  INLINE Quad brought(const SweptCell& c, int side, const Quad& z) const { return times(coupling, c, block_of(side), z); }
  INLINE Quad end(const SweptCell& c, const Quad& sums) const {
    Quad z = times(inverse, c, 0, sums);
    if (ODD) z += values(c);
    for (int n = 0; n < 4; ++n) x[n][c] = z[n];
    return z;
  }

private:
  template <class Blocks>
  INLINE static Quad times(const Blocks& of, const SweptCell& c, int first, const Quad& z) {
    const Quad one = z[0] * quad(of.four(c, first).of) + z[1] * quad(of.four(c, first + 4).of);
    return one + (z[2] * quad(of.four(c, first + 8).of) + z[3] * quad(of.four(c, first + 12).of));
  }
};
