// The residual of an approximate solution of Laplacian(p) = rhs or div(b grad p) = rhs.
#define UZ 64
// With coefficients a thread has fewer adjacent cells, or its data would exceed its registers
#ifdef HAS_b_x
#define UNROLL 2
#else
#define UNROLL (sizeof(real) == 4 ? 4 : 2)
#endif
#define RESIDENT 2
#include "cell.h"
#include "faces.h"

// r = rhs - mean - Laplacian(p), 0 where p is not active; residual = sum of r^2
template <class Operator>
FN void left_over(const Range& range, Foreign p, Foreign rhs, Out r, Partial residual, In64 mean, const Operator& m) {
  const real off = real(*mean);
  reduce_cells(range, interior(m), residual, SUM, CELL(c) {
    const real left = at(rhs, c) - off - laplacian(p, c, m);
    const real counts = active(c, m) ? left : real(0);
    r[c] = counts;
    return volume(m, c) * (double(counts) * counts);
  }, p, rhs);
}

TASK residual_of(Range range, Foreign p, Foreign rhs OPTIONAL(b_x) OPTIONAL(b_y) OPTIONAL(b_z) OPTIONAL(screen), Out r, Partial residual,
                 In64 mean, Mesh mesh) {
  left_over(range, p, rhs, r, residual, mean, faces(b_x, b_y, b_z, screen, mesh));
}
