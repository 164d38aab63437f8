// Conjugate gradients for Laplacian(p) = rhs with a preconditioner. Numbers that one kernel reduces are taken by the next
// from the memory of the device.
#define UZ 32
#define BY 2
#define RESIDENT 4
#include "cell.h"
#include "mesh.h"

// d = 0, and what is reduced from it
TASK begin_direction(Range range, Out d, Partial dAd) {
  reduce_cells(range, dAd, SUM, CELL(c) {
    d[c] = 0;
    return 0.0;
  });
}

// rz = sum of r z, zAz = sum of z Laplacian(z), zAd = sum of z Laplacian(d)
template <class Number>
FN void projected(const Range& range, In d, Foreign r, ForeignOf<Number> z, Partial rz, Partial zAz, Partial zAd,
                  const Mesh& mesh) {
  STRIDES(range)
  sum_cells(range, interior(mesh), {rz, zAz, zAd}, CELL(c) {
    const double here = at(z, c.i, c.j, c.k), left = at(r, c.i, c.j, c.k);
    const double bent = laplacian(z, c, mesh), other = laplacian(d, c, Y, Z, mesh);
    return Sums<3>{{left * here, here * bent, here * other}};
  });
}

TASK project(Range range, In d, Foreign r, Foreign z, Partial rz, Partial zAz, Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, mesh);
}

TASK project_single(Range range, In d, Foreign r, ForeignSingle z, Partial rz, Partial zAz, Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, mesh);
}

// r = rhs - mean - Laplacian(p); residual = sum of r^2, dAd = sum of d Laplacian(d)
TASK next_residual(Range range, Foreign p, Foreign rhs, Foreign d, Out r, Partial residual, Partial dAd, In64 mean, Mesh mesh) {
  const real off = real(*mean);
  sum_cells(range, interior(mesh), {residual, dAd}, CELL(c) {
    const real left = at(rhs, c.i, c.j, c.k) - off - laplacian(p, c, mesh), along = laplacian(d, c, mesh);
    r[c] = left;
    return Sums<2>{{double(left) * left, double(at(d, c.i, c.j, c.k)) * along}};
  });
}
