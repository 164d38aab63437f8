#pragma once
// Where the block for the neighbour on a side begins in a cell's row of the matrix: low sides come before high ones. Both halves are
// fields of their own, so that what a sweep reads lies together.
constexpr int HALF = 48;
FN constexpr int block_of(int side) { return 16 * (side >> 1) + (side & 1 ? HALF : 0); }

// Both as one private field of 2 HALF values
template <class Private>
struct Halves {
  Private low, high;
  INLINE auto tile(const Cell& c) const { return Halves<decltype(low.tile(c))>{low.tile(c), high.tile(c)}; }
  INLINE auto own(const Cell& c) const { return Halves<decltype(low.own(c))>{low.own(c), high.own(c)}; }
  INLINE auto operator()(const Cell& c, int n) const { return n < HALF ? low(c, n) : high(c, n - HALF); }
  INLINE auto four(const Cell& c, int n) const { return n < HALF ? low.four(c, n) : high.four(c, n - HALF); }
  INLINE auto* place(const Cell& c, int n) const { return n < HALF ? low.place(c, n) : high.place(c, n - HALF); }
  INLINE void store_four(const Cell& c, int n, const real (&values)[4]) const {
    if (n < HALF) low.store_four(c, n, values);
    else high.store_four(c, n - HALF, values);
  }
};
template <class Private>
FN Halves<Private> halves(const Private& low, const Private& high) { return {low, high}; }
