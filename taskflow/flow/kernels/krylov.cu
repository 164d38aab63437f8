// Conjugate gradients for Laplacian(p) = rhs with a preconditioner. Numbers that one kernel reduces are taken by the next
// from the memory of the device; what would be 0 / 0 is 0, as then there is nothing left to do.
#define UZ 4
#include "cell.h"
#include "mesh.h"

FN real quotient(In64 above, In64 below) { return *below != 0 ? real(*above / *below) : real(0); }

// d = 0, and what is reduced from it
TASK begin_direction(Range range, Out d, Partial dAd) {
  reduce_cells(range, dAd, SUM, CELL(c) {
    d[c] = 0;
    return 0.0;
  });
}

// rz = sum of r z, zAd = sum of z Laplacian(d)
TASK project(Range range, In d, Foreign r, Foreign z, Partial rz, Partial zAd, Mesh mesh) {
  STRIDES(range)
  reduce_cells(range, rz, SUM, CELL(c) { return double(at(r, c.i, c.j, c.k)) * at(z, c.i, c.j, c.k); });
  reduce_cells(range, zAd, SUM, CELL(c) {
    return double(at(z, c.i, c.j, c.k)) * laplacian(d, c, Y, Z, c.i, c.j, c.k, mesh);
  });
}

// d = z - (zAd / dAd) d
TASK next_direction(Range range, InOut d, Foreign z, In64 zAd, In64 dAd) {
  const real back = quotient(zAd, dAd);
  for_cells(range, CELL(c) { d[c] = at(z, c.i, c.j, c.k) - back * d[c]; });
}

// dAd = sum of d Laplacian(d)
TASK curvature(Range range, In d, Partial dAd, Mesh mesh) {
  STRIDES(range)
  reduce_cells(range, dAd, SUM, CELL(c) { return double(d[c]) * laplacian(d, c, Y, Z, c.i, c.j, c.k, mesh); });
}

// p = p + (rz / dAd) d
TASK advance(Range range, InOut p, In d, In64 rz, In64 dAd) {
  const real step = quotient(rz, dAd);
  for_cells(range, CELL(c) { p[c] += step * d[c]; });
}

// r = r - (rz / dAd) Laplacian(d); residual = sum of r^2
TASK next_residual(Range range, InOut r, Foreign d, In64 rz, In64 dAd, Partial residual, Mesh mesh) {
  const real step = quotient(rz, dAd);
  reduce_cells(range, residual, SUM, CELL(c) {
    const real left = r[c] - step * laplacian(d, c, mesh);
    r[c] = left;
    return double(left) * left;
  });
}
