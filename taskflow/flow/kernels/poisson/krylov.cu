// Conjugate gradients: see krylov.h.
#define UZ 64
#define UNROLL (sizeof(real) == 4 ? 4 : 2)
#define RESIDENT 2
#include "cell.h"
#include "krylov.h"

TASK project_first(Range range, In r, Foreign z, Partial rz, Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, mesh);
}

TASK project_first_single(Range range, In r, ForeignSingle z, Partial rz, Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, mesh);
}

TASK project(Range range, In d, Foreign r, Foreign z, Partial rz, Partial zAz, Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, mesh);
}

TASK project_single(Range range, In d, Foreign r, ForeignSingle z, Partial rz, Partial zAz, Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, mesh);
}

TASK next_residual(Range range, Foreign p, Foreign rhs, Foreign d, Out r, Partial residual, Partial dAd, In64 mean, Mesh mesh) {
  left_over(range, p, rhs, d, r, residual, dAd, mean, mesh);
}
