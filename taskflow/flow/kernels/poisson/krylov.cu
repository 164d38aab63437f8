// Conjugate gradients for Laplacian(p) = rhs, or for div(b grad p) = rhs, with a preconditioner. Numbers that one kernel
// reduces are taken by the next from the memory of the device.
#define UZ 64
#define UNROLL (sizeof(real) == 4 ? 4 : 2)
#define RESIDENT 2
#include "cell.h"
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

TASK project_first(Range range, In r, Foreign z, Partial rz, Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, mesh);
}

TASK project_first_single(Range range, In r, ForeignSingle z, Partial rz, Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, mesh);
}

TASK project_first_variable(Range range, In r, Foreign z, Foreign b_x, Foreign b_y, Foreign b_z, Partial rz, Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, faces(b_x, b_y, b_z, mesh));
}

TASK project_first_single_variable(Range range, In r, ForeignSingle z, Foreign b_x, Foreign b_y, Foreign b_z, Partial rz,
                                   Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, faces(b_x, b_y, b_z, mesh));
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

TASK project(Range range, In d, Foreign r, Foreign z, Partial rz, Partial zAz, Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, mesh);
}

TASK project_single(Range range, In d, Foreign r, ForeignSingle z, Partial rz, Partial zAz, Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, mesh);
}

TASK project_variable(Range range, In d, Foreign r, Foreign z, In b_x, In b_y, In b_z, Partial rz, Partial zAz,
                      Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, faces(range, b_x, b_y, b_z, mesh));
}

TASK project_single_variable(Range range, In d, Foreign r, ForeignSingle z, In b_x, In b_y, In b_z, Partial rz, Partial zAz,
                             Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, faces(range, b_x, b_y, b_z, mesh));
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

TASK next_residual(Range range, Foreign p, Foreign rhs, Foreign d, Out r, Partial residual, Partial dAd, In64 mean, Mesh mesh) {
  left_over(range, p, rhs, d, r, residual, dAd, mean, mesh);
}

TASK next_residual_variable(Range range, Foreign p, Foreign rhs, Foreign d, Foreign b_x, Foreign b_y, Foreign b_z, Out r,
                            Partial residual, Partial dAd, In64 mean, Mesh mesh) {
  left_over(range, p, rhs, d, r, residual, dAd, mean, faces(b_x, b_y, b_z, mesh));
}
