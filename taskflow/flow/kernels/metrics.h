// The sizes of cells. A direction is met as an `Axis`, as seen from one cell: `n` counts cells from there. Where a grid is
// stretched they are looked up.
#include "one.h"

// Three values in a row, as the flow from `up` to `down` meets them. A flag among them would keep loops from being vector loops:
// the compiler leaves such a struct in memory.
struct Row {
  real before, up, down;
};

#ifdef STRETCHED
struct Axis {
  Index step;  // from a cell to the next
  const real *cells, *faces, *two_cells, *behind, *widths;  // from that cell on

  INLINE real per_cell(int n = 0) const { return cells[n]; }
  INLINE real per_face(int n = 0) const { return faces[n]; }
  INLINE real per_two_cells() const { return *two_cells; }
  INLINE real per_two_cells(bool low_wall, bool high_wall) const {
    const real ways = 1 / (low_wall ? cells[0] : faces[0]) + 1 / (high_wall ? cells[0] : faces[1]);
    return low_wall | high_wall ? 1 / ways : *two_cells;
  }

  INLINE real divergence_in_cell() const { return cells[0]; }
  INLINE real divergence_on_face() const { return faces[0]; }
  INLINE real gradient_on_face(int n) const { return faces[n]; }
  INLINE real gradient_in_cell(int n) const { return cells[n]; }
  INLINE real gradient_at_wall() const { return cells[0]; }
  INLINE real divergence_at_wall(int n) const { return cells[0] * (2 * cells[0] - faces[n]); }

  INLINE real second_derivative_in_cell(real low, real twice, real high) const {
    const real here = real(0.5) * twice;
    return cells[0] * (faces[1] * (high - here) - faces[0] * (here - low));
  }
  INLINE real second_derivative_on_face(real low, real twice, real high) const {
    const real here = real(0.5) * twice;
    return faces[0] * (cells[0] * (high - here) - cells[-1] * (here - low));
  }

  INLINE real twice_mean(real low, real high) const { return (2 - *behind) * low + *behind * high; }
  INLINE real twice_between(real low, real high, int n) const { return behind[n] * low + (2 - behind[n]) * high; }

  INLINE real curvature_in_cell(const Row& q, bool forward, int n) const {
    const int far = forward ? n - 1 : n + 1, face = forward ? n : n + 1;
    const real change = cells[n] * (q.down - q.up) - cells[far] * (q.up - q.before);
    return widths[n] * widths[n] * (faces[face] * change);
  }
  INLINE real curvature_on_face(const Row& q, bool forward, int n) const {
    const int far = forward ? n - 1 : n + 1, cell = forward ? n - 1 : n;
    const real change = faces[n] * (q.down - q.up) - faces[far] * (q.up - q.before);
    return 2 * widths[n - 1] * widths[n] * (two_cells[cell] * change);
  }
};

FN Axis axis(const Grid& grid, int number, int cell, Index step) {
  return {step, grid.per_cell[number] + cell, grid.per_face[number] + cell, grid.per_two_cells[number] + cell,
          grid.behind[number] + cell, grid.widths[number] + cell};
}

FN real width(const Grid& g, int axis, int n) { return g.widths[axis][n]; }
FN real distance(const Grid& g, int axis, int n) { return 1 / g.per_face[axis][n]; }

// How far the centre of cell n along an axis is from the low end
FN real along(const Grid& g, int axis, int n) { return g.centre[axis][n]; }
FN double centre(const Grid& g, int axis, int n) { return g.centre[axis][n]; }

// The square of the cube root of a cell's volume
FN real filter_square(const Grid& g, const Cell& c) { return g.filter[0][c.i] * g.filter[1][c.j] * g.filter[2][c.k]; }

// The volume of a cell, and that around its low face across an axis, over the mean one
FN double volume(const Grid& g, const Cell& c) {
  return double(g.share[0][c.i]) * double(g.share[1][c.j]) * double(g.share[2][c.k]);
}
FN double part(const Grid& g, int axis, int n, bool on_face) {
  const real* share = g.share[axis] + n;
  return on_face ? 0.5 * (double(share[-1]) + double(share[0])) : double(share[0]);
}
FN double volume_on_face(const Grid& g, const Cell& c, int axis) {
  return part(g, 0, c.i, axis == 0) * part(g, 1, c.j, axis == 1) * part(g, 2, c.k, axis == 2);
}

// The area of a cell's faces across an axis over the mean one
FN double area(const Grid& g, int axis, const Cell& c) {
  const double x = axis == 0 ? 1.0 : double(g.share[0][c.i]), y = axis == 1 ? 1.0 : double(g.share[1][c.j]);
  return x * y * (axis == 2 ? 1.0 : double(g.share[2][c.k]));
}
#else
struct Axis {
  Index step;    // from a cell to the next
  real inverse;  // one over the spacing

  // One over the width of a cell, and over the distance between the centres on both sides of its low face
  INLINE real per_cell(int = 0) const { return inverse; }
  INLINE real per_face(int = 0) const { return inverse; }
  // One over the distance between the centres before and behind; beyond walls cells are mirrored
  INLINE real per_two_cells() const { return real(0.5) * inverse; }
  INLINE real per_two_cells(bool, bool) const { return per_two_cells(); }

  // A second derivative is a factor `divergence` times a difference of first ones, which are differences times a factor
  // `gradient`: of what lives in the centres of cells, on their low (0) and high faces (1); of what lives on faces, in the
  // cells before (-1) and behind (0) them.
  INLINE real divergence_in_cell() const { return inverse * inverse; }
  INLINE real divergence_on_face() const { return inverse * inverse; }
  INLINE One gradient_on_face(int) const { return {}; }
  INLINE One gradient_in_cell(int) const { return {}; }
  // To a wall on a face of a cell it is half as far as to the value beyond that it stands for: twice that difference, times
  // this. And what -2 value there adds to `divergence` times the differences with 0 in the cell before (0) or behind (1)
  INLINE One gradient_at_wall() const { return {}; }
  INLINE real divergence_at_wall(int) const { return inverse * inverse; }

  // The second derivative in a cell, and on its low face, from the values before and behind and twice that in between
  INLINE real second_derivative_in_cell(real low, real twice, real high) const {
    return divergence_in_cell() * (low - twice + high);
  }
  INLINE real second_derivative_on_face(real low, real twice, real high) const {
    return divergence_on_face() * (low - twice + high);
  }

  // Twice the mean over the volume around a low face of what is in the cells on both sides
  INLINE real twice_mean(real low, real high) const { return low + high; }
  // Twice what is on the low face of cell n, on the line between the centres on both sides
  INLINE real twice_between(real low, real high, int) const { return low + high; }

  // The upstream-weighted curvature of QUICK, eight times what the parabola through three values lacks of the line between
  // the last two: halfway between faces, in cell n, and between centres, on its low face
  INLINE real curvature_in_cell(const Row& q, bool, int) const { return q.before - 2 * q.up + q.down; }
  INLINE real curvature_on_face(const Row& q, bool, int) const { return q.before - 2 * q.up + q.down; }
};

FN Axis axis(const Grid& grid, int number, int, Index step) { return {step, grid.inverse[number]}; }

// The width of cell n along an axis, and how far its centre is from the one before and from the low end
FN real width(const Grid& g, int axis, int) { return g.spacing[axis]; }
FN real distance(const Grid& g, int axis, int) { return g.spacing[axis]; }
FN double centre(const Grid& g, int axis, int n) { return (n + 0.5) * double(g.spacing[axis]); }

// How far cell n along an axis is from the first one
FN real along(const Grid& g, int axis, int n) { return n * g.spacing[axis]; }

// What cells of different sizes count: here all are alike
FN One filter_square(const Grid&, const Cell&) { return {}; }
FN One volume(const Grid&, const Cell&) { return {}; }
FN One volume_on_face(const Grid&, const Cell&, int) { return {}; }
FN One area(const Grid&, int, const Cell&) { return {}; }
#endif
