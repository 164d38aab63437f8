/// # Products with a matrix: `#include "product.h"`
/// multiply(range, cells, rows, q, p): p = the matrix times q, for boxes of few cells
// Products with a matrix, for boxes of few cells that are all coupled.
//
//   TASK apply(Range range, In q, Out p, Matrix matrix) { multiply(range, matrix.cells, matrix.rows, q, p); }
//
// p[c] = the sum of row(c)[m] * q[m] over the cells m of a box of `cells` cells that begins at (0, 0, 0), numbered with x
// fastest; `rows` are the rows of all cells, contiguous. There are more terms than cells: a warp shares the terms of a cell.
// Its threads take them cyclically and fold their sums pairwise, 256 terms at a time. A CPU does the same, bitwise.

constexpr int SHARING = 32, TURNS = 8, AT_ONCE = SHARING * TURNS;

// row(c)
FN const real* row_of(Cell c, const int (&cells)[3], const real* rows) {
  return rows + cells[0] * cells[1] * cells[2] * (c.i + cells[0] * (c.j + cells[1] * c.k));
}

#ifdef GPU
constexpr int SIDE_BY_SIDE = 4;  // cells of a warp whose loads are in flight together

// The n-th cell of the plane of a thread block
FN Cell cell_of(const Range& r, int n) {
  const int width = blockDim.x, row = n / width, k = r.lo[2] + int(blockIdx.z);
  const int i = r.lo[0] + int(blockIdx.x) * width + n - row * width, j = r.lo[1] + int(blockIdx.y * blockDim.y) + row;
  return {i, j, k, i + j * r.y + k * r.z};
}

FN void multiply(const Range& r, const int (&cells)[3], const real* rows, In q, Out p) {
  static_assert(UZ == 1, "each thread block has one plane of cells");
  const int count = cells[0] * cells[1] * cells[2], threads = blockDim.x * blockDim.y;
  const int me = threadIdx.y * blockDim.x + threadIdx.x, lane = me % SHARING, warp = me / SHARING, warps = threads / SHARING;
  for (int first = 0; first < count; first += AT_ONCE) {
    real value[TURNS];
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      const int wanted = first + t * SHARING + lane, m = min(wanted, count - 1), j = m / cells[0], k = j / cells[1];
      const real found = q[m - j * cells[0] + (j - k * cells[1]) * r.y + k * r.z];
      value[t] = wanted < count ? found : 0;
    }
    for (int n = warp * SIDE_BY_SIDE; n < threads; n += warps * SIDE_BY_SIDE) {
      real weight[SIDE_BY_SIDE][TURNS], sum[SIDE_BY_SIDE] = {};
#pragma unroll
      for (int s = 0; s < SIDE_BY_SIDE; ++s) {
        const Cell c = cell_of(r, n + s);
        const bool any = c.i < r.hi[0] && c.j < r.hi[1];
#pragma unroll
        for (int t = 0; t < TURNS; ++t) {
          const int m = first + t * SHARING + lane;
          weight[s][t] = any && m < count ? row_of(c, cells, rows)[m] : 0;
        }
      }
      loaded();
#pragma unroll
      for (int s = 0; s < SIDE_BY_SIDE; ++s) {
#pragma unroll
        for (int t = 0; t < TURNS; ++t) sum[s] += weight[s][t] * value[t];
      }
      for (int half = SHARING / 2; half; half /= 2) {
#pragma unroll
        for (int s = 0; s < SIDE_BY_SIDE; ++s) sum[s] += __shfl_down_sync(0xffffffffu, sum[s], half);
      }
      if (lane > 0) continue;
#pragma unroll
      for (int s = 0; s < SIDE_BY_SIDE; ++s) {
        const Cell c = cell_of(r, n + s);
        if (c.i < r.hi[0] && c.j < r.hi[1]) p[c] = first ? p[c] + sum[s] : sum[s];
      }
    }
  }
}
#else
FN void multiply(const Range& r, const int (&cells)[3], const real* rows, In q, Out p) {
  const int nx = cells[0], ny = cells[1], nz = cells[2], count = nx * ny * nz;
  for_cells(r, [=](Cell c) __attribute__((always_inline)) {
    const real* weight = row_of(c, {nx, ny, nz}, rows);
    int i = 0, j = 0, k = 0;
    real sum = 0;
    for (int first = 0; first < count; first += AT_ONCE) {
      real part[SHARING] = {};
      for (int m = first; m < count && m < first + AT_ONCE; ++m) {
        part[m % SHARING] += weight[m] * q[i + j * r.y + k * r.z];
        if (++i == nx) i = 0, ++j;
        if (j == ny) j = 0, ++k;
      }
      for (int half = SHARING / 2; half; half /= 2)
        for (int n = 0; n < half; ++n) part[n] += part[n + half];
      sum = first ? sum + part[0] : part[0];
    }
    p[c] = sum;
  });
}
#endif
