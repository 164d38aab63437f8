// Residual of a pressure on the grid itself: of Laplacian(p) = rhs on the grid, with or without bodies, or of div(b grad p) =
// rhs on a mesh, with p = 0 on some faces or with coefficients.
#define UZ 32
#define BY 2
#include "cell.h"
#include "faces.h"
#include "laplacian.h"

// The Laplacian on the grid, with the interface of a mesh. Only here bodies exist.
FN bool active(Cell, const Laplacian&) { return true; }
FN auto volume(const Laplacian& m, const Cell& c) { return volume(m.grid, c); }
FN real laplacian(In p, Cell c, Index Y, Index Z, const Laplacian& m) { return m.at(star(p, c, 1, Y, Z), c); }
FN real laplacian(In p, Cell c, Index Y, Index Z, int solid, const Laplacian& m) {
  return m.at(beside(star(p, c, 1, Y, Z), solid), c);
}
template <class Operator>
FN real laplacian(In p, Cell c, Index Y, Index Z, None, const Operator& m) {
  return laplacian(p, c, Y, Z, m);
}

FN Laplacian pressure_operator(const Range&, None, None, None, None, const Grid& grid, None) { return {grid}; }
template <class B, class S>
FN auto pressure_operator(const Range& range, B b_x, B b_y, B b_z, S screen, None, const Mesh& mesh) {
  return faces(range, b_x, b_y, b_z, screen, mesh);
}

// r^2 where the cell counts: it is active, and not solid
template <class Operator>
FN double counted(Cell c, None, const Operator& m, double r) {
  return active(c, m) ? r * r : 0.0;
}
FN double counted(Cell, int solid, const Laplacian&, double r) { return solid & ITSELF ? 0.0 : r * r; }

// residual = sum of (rhs - mean - div(b grad p))^2 over active cells, each counting as its volume
TASK residual_square(Range range, In p, In rhs OPTIONAL(solid) OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Partial residual,
                     In64 mean OPTIONAL(grid) OPTIONAL(mesh)) {
  STRIDES(range)
  const real off = real(*mean);
  const auto m = pressure_operator(range, b_x, b_y, b_z, screen, grid, mesh);
  reduce_cells(range, residual, SUM, CELL(c) {
    const auto flags = flags_of(solid, c);
    const double r = rhs[c] - off - laplacian(p, c, Y, Z, flags, m);
    return volume(m, c) * counted(c, flags, m, r);
  });
}

// Weight of a cell in the mean: given, or 1 / number of active cells
FN double part_of_mean(real part, None) { return part; }
FN double part_of_mean(None, In64 cells) { return *cells > 0 ? 1 / *cells : 0.0; }

// norm = sum of rhs^2, mean = sum of part rhs over active cells, each counting as its volume
TASK rhs_sums(Range range, In rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Partial norm, Partial mean OPTIONAL(cells)
              OPTIONAL(grid) OPTIONAL(mesh) OPTIONAL(part)) {
  const auto m = pressure_operator(range, b_x, b_y, b_z, screen, grid, mesh);
  const double own = part_of_mean(part, cells);
  sum_cells(range, {norm, mean}, CELL(c) {
    const double r = active(c, m) ? rhs[c] : real(0);
    return Sums<2>{{volume(m, c) * (r * r), volume(m, c) * (own * r)}};
  });
}

// cells = number of active cells, weighted by volume
TASK count_active(Range range, In b_x, In b_y, In b_z, Partial cells, Mesh mesh) {
  const Faces m = faces(range, b_x, b_y, b_z, None{}, mesh);
  reduce_cells(range, cells, SUM, CELL(c) { return volume(m, c) * (active(c, m) ? 1.0 : 0.0); });
}
