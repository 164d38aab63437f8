// The order and signs of cells in which a real FFT becomes a cosine or sine transform.
#include "cell.h"

// Position of a cell of the unbounded sequence: even cells first, then odd ones backward.
struct Place {
  int cell;
  bool minus;
};

// The cell at position i along an axis, and its sign.
FN Place standing(const Spectrum& s, int axis, int i) {
  const int n = s.cells[axis], e = s.extended[axis], low = s.low_end[axis], high = s.high_end[axis];
  if (!low) return {i, false};
  const int c = i < (e + 1) / 2 ? 2 * i : 2 * (e - 1 - i) + 1;
  if (low == high) return {c, low < 0 && (c & 1)};
  const int image = c < n ? c : 2 * n - 1 - c;  // mirrored, with the other sign, in the face where p = 0
  return {low < 0 ? n - 1 - image : image, c >= n};
}

// The place, and the sign there, of cell i along an axis.
FN Place place(const Spectrum& s, int axis, int i) {
  const int n = s.cells[axis], e = s.extended[axis], low = s.low_end[axis], high = s.high_end[axis];
  if (!low) return {i, false};
  const int c = low < high ? n - 1 - i : i;
  return {c & 1 ? e - 1 - c / 2 : c / 2, low == high && low < 0 && (c & 1)};
}

// spectrum = rhs in the order of the transforms, padded with 0
TASK to_dct_order(Range range, Out spectrum, Foreign rhs, Spectrum s) {
  for_cells(range, CELL(c) {
    const bool inside = c.i < s.extended[0];
    const Place x = standing(s, 0, inside ? c.i : 0), y = standing(s, 1, c.j);
    const real value = at(rhs, x.cell, y.cell, c.k);
    spectrum[c] = inside ? (x.minus != y.minus ? -value : value) : real(0);
  });
}

// p = the spectrum, transformed back, in the order of cells
TASK from_dct_order(Range range, Out p, Foreign spectrum, Spectrum s) {
  for_cells(range, CELL(c) {
    const Place x = place(s, 0, c.i), y = place(s, 1, c.j);
    const real value = at(spectrum, x.cell, y.cell, c.k);
    p[c] = x.minus != y.minus ? -value : value;
  });
}

// there = here, from blocks to slabs of planes and back
TASK transfer(Range range, Out there, Foreign here) {
  for_cells(range, CELL(c) { there[c] = at(here, c.i, c.j, c.k); });
}
