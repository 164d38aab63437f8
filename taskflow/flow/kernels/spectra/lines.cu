// The power of the waves of fields: rows of lines along an axis, and their transforms, squared and added up.
#define UZ 1
#include "power.h"

// Rows of lines of q along x, y or z, its first two directions in turn or its first and its last; what pads a row is 0
TASK lines_along_x(Range range, Out rows, Foreign q, int cells) {
  for_cells(range, CELL(c) { rows[c] = c.i < cells ? at(q, c.i, c.j, c.k) : real(0); });
}

TASK lines_along_y(Range range, Out rows, Foreign q, int cells) {
  for_cells(range, CELL(c) { rows[c] = c.i < cells ? at(q, c.j, c.i, c.k) : real(0); });
}

TASK lines_along_z(Range range, Out rows, Foreign q, int cells) {
  for_cells(range, CELL(c) { rows[c] = c.i < cells ? at(q, c.k, c.j, c.i) : real(0); });
}

// The mean power of each wave of so many rows beside each other along y, or along z
TASK power_beside_y(Range range, InOut power, Foreign rows, In64 share, int lines, real scale) {
  for_cells(range, CELL(c) {
    double sum = 0;
    for (int n = 0; n < lines; ++n) sum += square(complex(rows, c.i, c.j + n, c.k));
    power[c] = running(power[c], sum * double(scale), *share);
  });
}

TASK power_beside_z(Range range, InOut power, Foreign rows, In64 share, int lines, real scale) {
  for_cells(range, CELL(c) {
    double sum = 0;
    for (int n = 0; n < lines; ++n) sum += square(complex(rows, c.i, c.j, c.k + n));
    power[c] = running(power[c], sum * double(scale), *share);
  });
}

// The sum of the products c* d of two fields: its real part, and the imaginary part of its conjugate
struct Products {
  double re = 0, quadrature = 0;
  INLINE void add(Complex c, Complex d) { re += in_phase(c, d), quadrature += in_quadrature(c, d); }
};

TASK product_beside_y(Range range, InOut cospectrum, InOut quadrature, Foreign rows, Foreign others, In64 share, int lines,
                      real scale) {
  for_cells(range, CELL(c) {
    Products sum;
    for (int n = 0; n < lines; ++n) sum.add(complex(rows, c.i, c.j + n, c.k), complex(others, c.i, c.j + n, c.k));
    cospectrum[c] = running(cospectrum[c], sum.re * double(scale), *share);
    quadrature[c] = running(quadrature[c], sum.quadrature * double(scale), *share);
  });
}

TASK product_beside_z(Range range, InOut cospectrum, InOut quadrature, Foreign rows, Foreign others, In64 share, int lines,
                      real scale) {
  for_cells(range, CELL(c) {
    Products sum;
    for (int n = 0; n < lines; ++n) sum.add(complex(rows, c.i, c.j, c.k + n), complex(others, c.i, c.j, c.k + n));
    cospectrum[c] = running(cospectrum[c], sum.re * double(scale), *share);
    quadrature[c] = running(quadrature[c], sum.quadrature * double(scale), *share);
  });
}
