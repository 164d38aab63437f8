// From a level of multigrid to the next finer one, whose cells fill the same domain: `ratio` coarse cells to a fine one, per
// direction.
#define UZ 8
#define BY 2
#include "cell.h"
#include "between.h"

FN real corrected(real here, const Foreign& coarse, const Between& x, const Between& y, const Between& z) {
  return here + (z.low_weight * mean(square(coarse, x, y, z.low), x, y) + z.high_weight * mean(square(coarse, x, y, z.high), x, y));
}

FN void corrected(const Range& range, const Interior& inside, InOut p, Foreign coarse, real x_ratio, real y_ratio,
                  real z_ratio, const Mesh& mesh) {
  change_cells(range, inside, CELL(c) {
    return corrected(p[c], coarse, between(c.i, x_ratio, mesh, 0), between(c.j, y_ratio, mesh, 1), along_z(c, z_ratio, mesh));
  }, STORE(c, value) { p[c] = value; }, In(p));
}

// The same where all ratios are 1 / 2
#ifdef GPU
FN void corrected_in_pairs(const Range& range, InOut p, Foreign coarse, const Mesh& mesh) {
  corrected(range, paired(mesh), p, coarse, real(0.5), real(0.5), real(0.5), mesh);
}
#else
// Both cells of a pair at once: cell by cell GCC gathers coarse values, as two cells share them
FN void corrected_in_pairs(const Range& range, InOut p, Foreign coarse, const Mesh& mesh) {
  const real half = real(0.5), near = real(0.75), far = real(0.25);
  const auto by_row = [=](int from, int to, int j, int k, Index row) __attribute__((always_inline)) {
    const Between y = between(j, half, mesh, 1), z = between(k, half, mesh, 2);
    const auto cell = [=](Cell c) __attribute__((always_inline)) { p[c] = corrected(p[c], coarse, between(c.i, half, mesh, 0), y, z); };
    const int begin = (from + 1) >> 1, end = to >> 1;  // the pairs that do not see beyond faces
    const int low = begin > mesh.first[0] ? begin : mesh.first[0] + 1, high = end < mesh.last[0] ? end : mesh.last[0];
    if (low >= high) return for_row(from, to, j, k, row, cell);
    for_row(from, 2 * low, j, k, row, cell);
#pragma omp simd
    for (int n = low; n < high; ++n) {
      const Index first = row + 2 * n;
      const real even = corrected(p[first], coarse, {n - 1, n, far, near}, y, z);
      const real odd = corrected(p[first + 1], coarse, {n, n + 1, near, far}, y, z);
      p[first] = even, p[first + 1] = odd;
    }
    for_row(2 * high, to, j, k, row, cell);
  };
  for_cells(range, RowFunction<decltype(by_row)>{by_row});
}
#endif

// p = p + the coarse correction, interpolated linearly along each direction
TASK correct_by_coarse(Range range, InOut p, Foreign coarse, Mesh mesh, Transfer transfer) {
  const real x = transfer.ratio[0], y = transfer.ratio[1], z = transfer.ratio[2], half = real(0.5);
  if (x == half && y == half && z == half) {
    corrected_in_pairs(range, p, coarse, mesh);
  } else {
    corrected(range, nowhere(), p, coarse, x, y, z, mesh);
  }
}
