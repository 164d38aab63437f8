// Conjugate gradients for Laplacian(p) = rhs, or for div(b grad p) = rhs, with a preconditioner. Numbers that one kernel
// reduces are taken by the next from the memory of the device.
#define UZ 64
// With coefficients a thread has fewer adjacent cells, or its data would exceed its registers
#if defined(HAS_b_x) || defined(HAS_own_b_x)
#define UNROLL 2
#else
#define UNROLL (sizeof(real) == 4 ? 4 : 2)
#endif
#define RESIDENT 2
#include "cell.h"
#include "faces.h"

// rz = sum of r z, zAz = sum of z Laplacian(z)
template <class Number, class Operator>
FN void first_inner_products(const Range& range, In r, ForeignOf<Number> z, Partial rz, Partial zAz, const Operator& m) {
  sum_cells(range, interior(m), {rz, zAz}, CELL(c) {
    const double here = at(z, c), left = r[c], bent = laplacian(z, c, m);
    const auto size = volume(m, c);
    return Sums<2>{{size * (left * here), size * (here * bent)}};
  }, r, z);
}

// rz = sum of r z, zAz = sum of z Laplacian(z), zAd = sum of z Laplacian(d), dAd = sum of d Laplacian(d)
template <class Number, class Operator>
FN void inner_products(const Range& range, In d, Foreign r, ForeignOf<Number> z, Partial rz, Partial zAz, Partial zAd,
                       Partial dAd, const Operator& m) {
  STRIDES(range)
  sum_cells(range, interior(m), {rz, zAz, zAd, dAd}, CELL(c) {
    const double here = at(z, c), left = at(r, c), along = d[c];
    const double bent = laplacian(z, c, m), other = laplacian(d, c, Y, Z, m);
    const auto size = volume(m, c);
    return Sums<4>{{size * (left * here), size * (here * bent), size * (here * other), size * (along * other)}};
  }, d, r, z);
}

TASK cg_first_inner_products(Range range, In r, ForeignOf<Real_z> z OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Partial rz, Partial zAz,
                             Mesh mesh) {
  first_inner_products(range, r, z, rz, zAz, faces(b_x, b_y, b_z, screen, mesh));
}

TASK cg_inner_products(Range range, In d, Foreign r, ForeignOf<Real_z> z OPTIONAL(own_b_x) OPTIONAL(own_b_y) OPTIONAL(own_b_z) OPTIONAL(own_screen),
                       Partial rz, Partial zAz, Partial zAd, Partial dAd, Mesh mesh) {
  inner_products(range, d, r, z, rz, zAz, zAd, dAd, faces(range, own_b_x, own_b_y, own_b_z, own_screen, mesh));
}
