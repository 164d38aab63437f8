// Conjugate gradients for Laplacian(p) = rhs, or for div(b grad p) = rhs, with a preconditioner. Numbers that one kernel
// reduces are taken by the next from the memory of the device.
#include "faces.h"

// rz = sum of r z, zAz = sum of z Laplacian(z)
template <class Number, class Operator>
FN void projected_first(const Range& range, In r, ForeignOf<Number> z, Partial rz, Partial zAz, const Operator& m) {
  sum_cells(range, interior(m), {rz, zAz}, CELL(c) {
    const double here = at(z, c), left = r[c], bent = laplacian(z, c, m);
    const auto size = volume(m, c);
    return Sums<2>{{size * (left * here), size * (here * bent)}};
  }, r, z);
}

// rz = sum of r z, zAz = sum of z Laplacian(z), zAd = sum of z Laplacian(d)
template <class Number, class Operator>
FN void projected(const Range& range, In d, Foreign r, ForeignOf<Number> z, Partial rz, Partial zAz, Partial zAd,
                  const Operator& m) {
  STRIDES(range)
  sum_cells(range, interior(m), {rz, zAz, zAd}, CELL(c) {
    const double here = at(z, c), left = at(r, c);
    const double bent = laplacian(z, c, m), other = laplacian(d, c, Y, Z, m);
    const auto size = volume(m, c);
    return Sums<3>{{size * (left * here), size * (here * bent), size * (here * other)}};
  }, d, r, z);
}

// r = rhs - mean - Laplacian(p), 0 where p is not sought; residual = sum of r^2, dAd = sum of d Laplacian(d)
template <class Operator>
FN void left_over(const Range& range, Foreign p, Foreign rhs, Foreign d, Out r, Partial residual, Partial dAd, In64 mean,
                  const Operator& m) {
  const real off = real(*mean);
  sum_cells(range, interior(m), {residual, dAd}, CELL(c) {
    const real left = at(rhs, c) - off - laplacian(p, c, m), along = laplacian(d, c, m);
    const real counts = sought(c, m) ? left : real(0);
    r[c] = counts;
    const auto size = volume(m, c);
    return Sums<2>{{size * (double(counts) * counts), size * (double(at(d, c)) * along)}};
  }, p, rhs, d);
}
