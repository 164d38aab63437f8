#pragma once
#include "unknowns.h"
// Where the block for the neighbour on a side begins in a cell's row of the matrix: low sides come before high ones. Both halves are
// fields of their own, so that what a sweep reads lies together.
constexpr int BLOCK = UNKNOWNS * UNKNOWNS, HALF = 3 * BLOCK;
FN constexpr int block_of(int side) { return BLOCK * (side >> 1) + (side & 1 ? HALF : 0); }

// Blocks of factors lie by rows on a GPU, a thread of which sums along one, and by columns on a CPU, which does all rows side by side:
// no sum along a vector is needed.
#ifdef GPU
constexpr bool BY_ROWS = true;
#else
constexpr bool BY_ROWS = false;
#endif
FN constexpr int entry(int row, int column) { return BY_ROWS ? UNKNOWNS * row + column : UNKNOWNS * column + row; }

#ifndef GPU
// The numbers of all unknowns side by side
#if !defined(double) && !defined(HEAT)
typedef real Wide __attribute__((vector_size(4 * sizeof(real))));
template <class F>
FN Wide wide_of(F f) { return Wide{f(0), f(1), f(2), f(3)}; }
#else  // numbers that are counted, see counted.h, are in no vectors; 5 or 6 of them make none
struct Wide {
  real of[UNKNOWNS];
  INLINE real operator[](int n) const { return of[n]; }
};
template <class F>
FN Wide wide_of(F f) {
  Wide a;
#pragma GCC unroll 6
  for (int n = 0; n < UNKNOWNS; ++n) a.of[n] = f(n);
  return a;
}
FN Wide operator+(const Wide& a, const Wide& b) { return wide_of([&](int n) { return a[n] + b[n]; }); }
FN Wide operator-(const Wide& a, const Wide& b) { return wide_of([&](int n) { return a[n] - b[n]; }); }
FN Wide operator*(real by, const Wide& a) { return wide_of([&](int n) { return by * a[n]; }); }
FN void operator+=(Wide& a, const Wide& b) { a = a + b; }
FN void operator-=(Wide& a, const Wide& b) { a = a - b; }
#endif
// Numbers as they are stored. Written out: of one conversion of four GCC makes two of halves
template <class Number>
FN Wide widened(const Number (&numbers)[UNKNOWNS]) {
#if !defined(double) && !defined(HEAT)
  typedef Number Four __attribute__((vector_size(4 * sizeof(Number))));
  Four four;
  memcpy(&four, numbers, sizeof four);
  return wide_of([&](int n) { return real(four[n]); });
#else
  return wide_of([&](int n) { return real(numbers[n]); });
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
  template <int M>
  INLINE auto several(const Cell& c, int n) const { return n < HALF ? low.template several<M>(c, n) : high.template several<M>(c, n - HALF); }
  INLINE auto* place(const Cell& c, int n) const { return n < HALF ? low.place(c, n) : high.place(c, n - HALF); }
  INLINE void store(const Cell& c, int n, const real (&values)[UNKNOWNS]) const {
    if (n < HALF) low.store(c, n, values);
    else high.store(c, n - HALF, values);
  }
};
template <class Private>
FN Halves<Private> halves(const Private& low, const Private& high) { return {low, high}; }
// A row of a block, or on a CPU a column, from value n on
template <class Stored>
FN auto line(const Stored& stored, const Cell& c, int n) { return stored.template several<UNKNOWNS>(c, n); }
