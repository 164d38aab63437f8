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

#ifndef GPU
// Four numbers side by side
#ifndef double
typedef real Quad __attribute__((vector_size(4 * sizeof(real))));
#else  // those that are counted, see counted.h, are in no vectors
struct Quad {
  real of[4];
  INLINE real operator[](int n) const { return of[n]; }
};
template <class F>
FN Quad quad_of(F f) { return {{f(0), f(1), f(2), f(3)}}; }
FN Quad operator+(const Quad& a, const Quad& b) { return quad_of([&](int n) { return a[n] + b[n]; }); }
FN Quad operator-(const Quad& a, const Quad& b) { return quad_of([&](int n) { return a[n] - b[n]; }); }
FN Quad operator*(real by, const Quad& a) { return quad_of([&](int n) { return by * a[n]; }); }
FN void operator+=(Quad& a, const Quad& b) { a = a + b; }
FN void operator-=(Quad& a, const Quad& b) { a = a - b; }
#endif
// Written out: of one conversion of all four GCC makes two of halves
template <class Number>
FN Quad quad(const Number (&numbers)[4]) {
#ifndef double
  typedef Number Four __attribute__((vector_size(4 * sizeof(Number))));
  Four four;
  memcpy(&four, numbers, sizeof four);
  return Quad{real(four[0]), real(four[1]), real(four[2]), real(four[3])};
#else
  return {{real(numbers[0]), real(numbers[1]), real(numbers[2]), real(numbers[3])}};
#endif
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
