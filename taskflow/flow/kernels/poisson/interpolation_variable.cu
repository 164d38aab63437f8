// From a level of multigrid to the next finer one, where coefficients are variable: `ratio` coarse cells to a fine one, per
// direction.
#define UZ 8
#define UNROLL 1
#define BY 2
#define RESIDENT (sizeof(real) == 4 ? 4 : 2)
#include "cell.h"
#include "between.h"
#include "faces.h"
#include "resistance.h"

// Data of a correction
struct Around {
  real p;
  bool active;
  Between x, y, z;  // as if b were the same everywhere
  Crossed b_x, b_y, b_z;
  Square below, above;
};

// p = p + the coarse correction where p is active on the fine level, interpolated along each direction as b lets it change
TASK correct_by_coarse_variable(Range range, InOut p, Foreign coarse, Foreign b_x, Foreign b_y, Foreign b_z, Mesh mesh, Mesh fine,
                                Transfer transfer) {
  const Faces b = faces(b_x, b_y, b_z, None{}, fine);
  const Index Y = b_x.y, Z = b_x.z;
  change_cells(range, interior(fine), CELL(c) {
    const Index f = place(b_x, c) - b_x.field;
    const auto& ratio = transfer.ratio;
    const auto& length = transfer.length;
    const Between x = between(c.i, ratio[0], mesh, 0), y = between(c.j, ratio[1], mesh, 1), z = between(c.k, ratio[2], mesh, 2);
    return Around{p[c], active(c, b), x, y, z, crossed(x, length[0], b.x.field + f, 1), crossed(y, length[1], b.y + f, Y),
                  crossed(z, length[2], b.z + f, Z), square(coarse, x, y, z.low), square(coarse, x, y, z.high)};
  }, STORE(c, a) {
    const Between x = between(a.x, transfer.length[0], a.b_x), y = between(a.y, transfer.length[1], a.b_y);
    const Between z = between(a.z, transfer.length[2], a.b_z);
    const real correction = corrected(a.below, a.above, x, y, z);
    p[c] = a.p + (a.active ? correction : real(0));
  });
}
