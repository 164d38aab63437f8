// The power of the waves of fields: rows of lines along an axis, and their transforms, squared and added up.
#define UZ 1
#include "power.h"

// Rows of lines of q along the axis, exchanged with x, padded with 0
TASK lines_along(Range range, Out rows, Foreign q, int cells) {
  for_cells(range, CELL(c) {
    const int n = index(c, AXIS), j = AXIS == 1 ? c.i : c.j, k = AXIS == 2 ? c.i : c.k;
    rows[c] = c.i < cells ? at(q, n, j, k) : real(0);
  });
}

// The coefficient of a cell in the n-th adjacent row along the axis
FN Complex beside(const Foreign& rows, const Cell& c, int n) {
  return complex(rows, c.i + (AXIS == 0 ? n : 0), c.j + (AXIS == 1 ? n : 0), c.k + (AXIS == 2 ? n : 0));
}

// The mean power of each wave over adjacent rows along y, or along z
TASK power_beside(Range range, InOut power, Foreign rows, In64 share, int lines, real scale) {
  for_cells(range, CELL(c) {
    double sum = 0;
    for (int n = 0; n < lines; ++n) sum += square(beside(rows, c, n));
    power[c] = running(power[c], sum * double(scale), *share);
  });
}

// The sum of the products c* d of two fields: its real part, and the imaginary part of its conjugate
struct Products {
  double re = 0, quadrature = 0;
  INLINE void add(Complex c, Complex d) { re += in_phase(c, d), quadrature += in_quadrature(c, d); }
};

TASK product_beside(Range range, InOut cospectrum, InOut quadrature, Foreign rows, Foreign others, In64 share, int lines,
                    real scale) {
  for_cells(range, CELL(c) {
    Products sum;
    for (int n = 0; n < lines; ++n) sum.add(beside(rows, c, n), beside(others, c, n));
    cospectrum[c] = running(cospectrum[c], sum.re * double(scale), *share);
    quadrature[c] = running(quadrature[c], sum.quadrature * double(scale), *share);
  });
}
