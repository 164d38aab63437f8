// Conjugate gradients where coefficients are variable: see krylov.h. Fewer cells side by side, or what a thread knows of them would be
// more than its registers hold.
#define UZ 64
#define UNROLL 2
#define RESIDENT 2
#include "cell.h"
#include "krylov.h"

TASK project_first_variable(Range range, In r, Foreign z, Foreign b_x, Foreign b_y, Foreign b_z, Partial rz, Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, faces(b_x, b_y, b_z, mesh));
}

TASK project_first_single_variable(Range range, In r, ForeignSingle z, Foreign b_x, Foreign b_y, Foreign b_z, Partial rz,
                                   Partial zAz, Mesh mesh) {
  projected_first(range, r, z, rz, zAz, faces(b_x, b_y, b_z, mesh));
}

TASK project_variable(Range range, In d, Foreign r, Foreign z, In b_x, In b_y, In b_z, Partial rz, Partial zAz,
                      Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, faces(range, b_x, b_y, b_z, mesh));
}

TASK project_single_variable(Range range, In d, Foreign r, ForeignSingle z, In b_x, In b_y, In b_z, Partial rz, Partial zAz,
                             Partial zAd, Mesh mesh) {
  projected(range, d, r, z, rz, zAz, zAd, faces(range, b_x, b_y, b_z, mesh));
}

TASK next_residual_variable(Range range, Foreign p, Foreign rhs, Foreign d, Foreign b_x, Foreign b_y, Foreign b_z, Out r,
                            Partial residual, Partial dAd, In64 mean, Mesh mesh) {
  left_over(range, p, rhs, d, r, residual, dAd, mean, faces(b_x, b_y, b_z, mesh));
}
