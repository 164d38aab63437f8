// Boxes to be copied, many at once. GPU only.
constexpr int PARTS = 32;

// target[i + j target_y + k target_z] = source[i + j source_y + k source_z] for nx x ny x (cells / nx ny) cells
struct Part {
  const real* source;
  real* target;
  Index source_y, source_z, target_y, target_z;
  unsigned nx, ny, cells;
};

struct Parts {
  Part part[PARTS];
};

// The cells of a box that fall to this thread; `n` of `step` threads share them.
FN void copy_part(const Part& p, unsigned n, unsigned step) {
#pragma unroll 4
  for (; n < p.cells; n += step) {
    const unsigned row = n / p.nx, i = n - row * p.nx, k = row / p.ny, j = row - k * p.ny;
    p.target[i + j * p.target_y + k * p.target_z] = p.source[i + j * p.source_y + k * p.source_z];
  }
}
