// The sizes of cells. A direction is met as an `Axis`, as seen from one cell: `n` counts cells from there.

// One, which costs no multiplication.
struct One {};
FN real operator*(One, real value) { return value; }

struct Axis {
  Index step;    // from a cell to the next
  real inverse;  // one over the spacing

  // One over the width of a cell, and over the distance between the centres on both sides of its low face
  INLINE real per_cell(int = 0) const { return inverse; }
  INLINE real per_face(int = 0) const { return inverse; }
  // One over the distance between the centres before and behind
  INLINE real per_two_cells() const { return real(0.5) * inverse; }

  // A second derivative is `outer` times a difference of first ones, which are differences times `inner`: of what lives in
  // the centres of cells, on their low and their high faces; of what lives on faces, in the cells before and behind them.
  INLINE real outer_in_cells() const { return inverse * inverse; }
  INLINE real outer_on_faces() const { return inverse * inverse; }
  INLINE One inner_in_cells(int) const { return {}; }
  INLINE One inner_on_faces(int) const { return {}; }

  // The second derivative in a cell, and on its low face, from the values before and behind and twice that in between
  INLINE real bend_in_cells(real low, real twice, real high) const { return outer_in_cells() * (low - twice + high); }
  INLINE real bend_on_faces(real low, real twice, real high) const { return outer_on_faces() * (low - twice + high); }

  // Twice the mean over the volume around a low face of what is in the cells on both sides
  INLINE real twice_mean(real low, real high) const { return low + high; }
};

FN Axis axis(const Grid& grid, int number, int, Index step) { return {step, grid.inverse[number]}; }
