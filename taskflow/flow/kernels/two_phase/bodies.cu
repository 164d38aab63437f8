// Bodies among two phases: the level set goes on into them without a slope, so that the interface meets them at 90 degrees.
#define UZ 32
#include "cell.h"
#include "../flags.h"
#include "neighbours.h"

// Sums over neighbours of a cell: of their values and their number, those in the fluid and all
struct Around {
  real fluid = 0, all = 0;
  int in_fluid = 0, number = 0;
  INLINE void take(In q, Index c, Index offset, bool solid) {
    if (offset == 0) return;  // beyond a wall there is none
    const real value = q[c + offset];
    all += value, number += 1;
    fluid += solid ? real(0) : value, in_fluid += !solid;
  }
};

// In solid cells the mean of the neighbours in the fluid, or where there is none of all
TASK extend_into_bodies(Range range, In phi, InByte solid, Out phi_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    real next = phi[c];
    if (bits & ITSELF) {
      const Lines a = lines(grid, c, X, Y, Z);
      Around around;
      around.take(phi, c, a.x.low(1), bits & 1), around.take(phi, c, a.x.high(1), bits & 2);
      around.take(phi, c, a.y.low(1), bits & 4), around.take(phi, c, a.y.high(1), bits & 8);
      around.take(phi, c, a.z.low(1), bits & 16), around.take(phi, c, a.z.high(1), bits & 32);
      next = around.in_fluid > 0 ? around.fluid / around.in_fluid : around.all / around.number;
    }
    phi_new[c] = next;
  });
}
