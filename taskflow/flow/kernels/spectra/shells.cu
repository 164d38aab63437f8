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

// Multiplicity of a mode among the waves of a real row
FN int twice(int mode, int cells) { return mode == 0 || 2 * mode == cells ? 1 : 2; }

// The power in the shell of cell c of the waves of two fields, Re(c* d), whose mode along y is in its row. A row has the modes
// along z of numbers that are, plane by plane, the real and imaginary part of a mode along x: the modes n and -n together are
// twice the sum over both parts.
FN double in_shell(const Foreign& rows, const Foreign& others, Cell c, const Shells& shells) {
  const int nx = shells.cells[0], ny = shells.cells[1], nz = shells.cells[2], modes = nz / 2 + 1;
  const double y = double(shells.ratio[1]) * (2 * c.j < ny ? c.j : ny - c.j), z = double(shells.ratio[2]);
  double sum = 0;
  for (int m = 0; m <= nx / 2; ++m) {
    const double x = double(shells.ratio[0]) * m, apart = x * x + y * y;
    const int first = first_beyond(c.i - 0.5, apart, z, modes);
    const int end = c.i + 1 < shells.count ? first_beyond(c.i + 0.5, apart, z, modes) : modes;
    double inside = 0;
    for (int n = first; n < end; ++n) {
      const double re = in_phase(complex(rows, n, c.j, 2 * m), complex(others, n, c.j, 2 * m));
      const double im = in_phase(complex(rows, n, c.j, 2 * m + 1), complex(others, n, c.j, 2 * m + 1));
      inside += twice(n, nz) * (re + im);
    }
    sum += twice(m, nx) * inside;
  }
  return sum;
}

TASK shell_power(Range range, InOut power, Foreign rows, In64 share, Shells shells, real scale) {
  for_cells(range, CELL(c) { power[c] = running(power[c], in_shell(rows, rows, c, shells) * double(scale), *share); });
}

TASK shell_product(Range range, InOut cospectrum, Foreign rows, Foreign others, In64 share, Shells shells, real scale) {
  for_cells(range, CELL(c) {
    cospectrum[c] = running(cospectrum[c], in_shell(rows, others, c, shells) * double(scale), *share);
  });
}
