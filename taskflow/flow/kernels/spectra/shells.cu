// The power of the waves in shells of wavenumber.
#define UZ 1
#include "power.h"

// The least mode n >= 0, at most `modes`, of which apart + (ratio n)^2 >= edge^2; 0 where the edge is negative
FN int first_beyond(double edge, double apart, double ratio, int modes) {
  if (edge <= 0) return 0;
  const double left = edge * edge - apart;
  int n = left > 0 ? int(root(left) / ratio) : 0;
  n = n < modes ? n : modes;
  while (n > 0 && apart + (ratio * (n - 1)) * (ratio * (n - 1)) >= edge * edge) --n;
  while (n < modes && apart + (ratio * n) * (ratio * n) < edge * edge) ++n;
  return n;
}

// How many of the waves of a real row of so many cells a mode stands for
FN int twice(int mode, int cells) { return mode == 0 || 2 * mode == cells ? 1 : 2; }

// The power in shell i of the waves whose mode along y stands in row j. Along a row are the modes along z of numbers that
// are, plane by plane, the real and the imaginary part of a mode along x: |c(n)|^2 + |c(-n)|^2 is the sum over both parts.
TASK shell_power(Range range, InOut power, Foreign rows, In64 share, Shells shells, real scale) {
  for_cells(range, CELL(c) {
    const int nx = shells.cells[0], ny = shells.cells[1], nz = shells.cells[2], modes = nz / 2 + 1;
    const double y = double(shells.ratio[1]) * (2 * c.j < ny ? c.j : ny - c.j), z = double(shells.ratio[2]);
    double sum = 0;
    for (int m = 0; m <= nx / 2; ++m) {
      const double x = double(shells.ratio[0]) * m, apart = x * x + y * y;
      const int first = first_beyond(c.i - 0.5, apart, z, modes);
      const int end = c.i + 1 < shells.count ? first_beyond(c.i + 0.5, apart, z, modes) : modes;
      double inside = 0;
      for (int n = first; n < end; ++n) {
        inside += twice(n, nz) * (square(rows, n, c.j, 2 * m) + square(rows, n, c.j, 2 * m + 1));
      }
      sum += twice(m, nx) * inside;
    }
    power[c] = running(power[c], sum * double(scale), *share);
  });
}
