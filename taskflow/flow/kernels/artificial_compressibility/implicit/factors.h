#pragma once
// Where the block for the neighbour on a side begins in a cell's row of the matrix: low sides come before high ones. Both halves are
// fields of their own, so that what a sweep reads lies together.
constexpr int HALF = 48;
FN constexpr int block_of(int side) { return 16 * (side >> 1) + (side & 1 ? HALF : 0); }

// Blocks of factors lie by rows on a GPU, a thread of which sums along one, and by columns on a CPU, which does four rows side by side:
// no sum along a vector is needed.
#ifdef GPU
constexpr bool BY_ROWS = true;
#else
constexpr bool BY_ROWS = false;
#endif
FN constexpr int entry(int row, int column) { return BY_ROWS ? 4 * row + column : 4 * column + row; }

#if !defined(GPU) && !defined(double)  // nor where numbers are counted, see counted.h
#define QUADS
typedef real Quad __attribute__((vector_size(4 * sizeof(real))));
// Four numbers side by side. Written out: of one conversion of all four GCC makes two of halves
template <class Number>
FN Quad quad(const Number (&numbers)[4]) {
  typedef Number Four __attribute__((vector_size(4 * sizeof(Number))));
  Four four;
  memcpy(&four, numbers, sizeof four);
  return Quad{real(four[0]), real(four[1]), real(four[2]), real(four[3])};
}
#endif

// Both, which are stored alike, as one private field of 2 HALF values
template <class Private>
struct Halves {
  Private low, high;
#ifndef GPU
  INLINE auto tile(const Cell& c) const { return Halves<decltype(low.tile(c))>{low.tile(c), high.tile(c)}; }
  INLINE auto own(const Cell& c) const { return Halves<decltype(low.own(c))>{low.own(c), high.own(c, low.numbered(c))}; }
#endif
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
