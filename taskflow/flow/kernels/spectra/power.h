// The power of waves, of one field or two, and its mean over time.
#include "cell.h"

// The complex number m of a row
struct Complex {
  double re, im;
};
FN Complex complex(const Foreign& rows, int m, int j, int k) {
  return {double(at(rows, 2 * m, j, k)), double(at(rows, 2 * m + 1, j, k))};
}

// The real part of c* d, and the imaginary part of its conjugate
FN double in_phase(Complex c, Complex d) { return c.re * d.re + c.im * d.im; }
FN double in_quadrature(Complex c, Complex d) { return c.im * d.re - c.re * d.im; }
FN double square(Complex c) { return in_phase(c, c); }

// The mean with a sample that makes up a share of the weight of all
FN real running(real old, double now, double share) { return old + real(share) * (real(now) - old); }
