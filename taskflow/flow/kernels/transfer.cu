// Between two levels of multigrid, whose cells fill the same domain: `ratio` coarse cells to a fine one, per direction.
#include "cell.h"
#include "mesh.h"

FN int floored(real x) { return int(x + 1) - 1; }  // for x >= -1

// rhs - Laplacian(p) in a cell of the fine level
FN real residual(const Foreign& p, const Foreign& rhs, int i, int j, int k, const Mesh& m) {
  return at(rhs, i, j, k) - laplacian(p.field, i + j * p.y + k * p.z, p.y, p.z, i, j, k, m);
}

FN real pair(const Foreign& p, const Foreign& rhs, int i, int j, int k, const Mesh& m) {
  return residual(p, rhs, i, j, k, m) + residual(p, rhs, i + 1, j, k, m);
}

// coarse = mean of the fine residuals in the 2 x 2 x 2 cells of a coarse one
TASK restrict_residual(Range range, Foreign p, Foreign rhs, Out coarse, Mesh mesh) {
  for_cells(range, CELL(c) {
    const int i = 2 * c.i, j = 2 * c.j, k = 2 * c.k;
    const real below = pair(p, rhs, i, j, k, mesh) + pair(p, rhs, i, j + 1, k, mesh);
    const real above = pair(p, rhs, i, j, k + 1, mesh) + pair(p, rhs, i, j + 1, k + 1, mesh);
    coarse[c] = real(0.125) * (below + above);
  });
}

// Along one direction: the first fine cell that a coarse one overlaps, and how much of it and of those behind it.
struct Overlap {
  int first;
  real part[3];
};

// `fine` cells are as long as `coarse` ones: in units that are whole numbers for both
FN Overlap overlap(int cell, int fine, int coarse) {
  const int begin = cell * fine, end = begin + fine;
  Overlap o{begin / coarse, {}};
  for (int n = 0; n < 3; ++n) {
    const int low = (o.first + n) * coarse, high = low + coarse;
    const int common = (high < end ? high : end) - (low > begin ? low : begin);
    o.part[n] = common > 0 ? real(common) / fine : real(0);
  }
  return o;
}

// The same where other cells meet: the mean of what a coarse cell overlaps of fine ones, at most `count` along a direction.
TASK restrict_overlapping(Range range, Foreign p, Foreign rhs, Out coarse, Mesh mesh, Transfer transfer) {
  for_cells(range, CELL(c) {
    const Overlap x = overlap(c.i, mesh.cells[0], transfer.cells[0]);
    const Overlap y = overlap(c.j, mesh.cells[1], transfer.cells[1]);
    const Overlap z = overlap(c.k, mesh.cells[2], transfer.cells[2]);
    real total = 0;
    for (int w = 0; w < transfer.count[2]; ++w)
      for (int v = 0; v < transfer.count[1]; ++v)
        for (int u = 0; u < transfer.count[0]; ++u) {
          const real part = x.part[u] * y.part[v] * z.part[w];
          if (part > 0) total += part * residual(p, rhs, x.first + u, y.first + v, z.first + w, mesh);
        }
    coarse[c] = total;
  });
}

// Along one direction: the two coarse cells between whose centres that of a fine one lies, and their weights. Beyond a face
// of the domain stands the last cell inside, mirrored.
struct Between {
  int low, high;
  real low_weight, high_weight;
};

FN Between between(int fine, real ratio, const Mesh& m, int axis) {
  const real x = (fine + real(0.5)) * ratio - real(0.5);
  const int low = floored(x), high = low + 1;
  const bool before = low < m.first[axis], behind = m.last[axis] < high;
  const real part = x - low;
  return {before ? m.first[axis] : low, behind ? m.last[axis] : high, (1 - part) * (before ? m.low[axis] : real(1)),
          part * (behind ? m.high[axis] : real(1))};
}

FN real along_x(const Foreign& q, const Between& x, int j, int k) {
  return x.low_weight * at(q, x.low, j, k) + x.high_weight * at(q, x.high, j, k);
}

// p = p + the coarse correction, interpolated linearly along each direction
TASK correct_by_coarse(Range range, InOut p, Foreign coarse, Mesh mesh, Transfer transfer) {
  for_cells(range, CELL(c) {
    const Between x = between(c.i, transfer.ratio[0], mesh, 0);
    const Between y = between(c.j, transfer.ratio[1], mesh, 1), z = between(c.k, transfer.ratio[2], mesh, 2);
    const real below = y.low_weight * along_x(coarse, x, y.low, z.low) + y.high_weight * along_x(coarse, x, y.high, z.low);
    const real above = y.low_weight * along_x(coarse, x, y.low, z.high) + y.high_weight * along_x(coarse, x, y.high, z.high);
    p[c] += z.low_weight * below + z.high_weight * above;
  });
}

// all = part, on blocks each of which then has all of it
TASK gather(Range range, Foreign part, Out all) {
  for_cells(range, CELL(c) { all[c] = at(part, c.i, c.j, c.k); });
}
