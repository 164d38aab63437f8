// The correction of a multigrid cycle, added in place.
#define UZ 4
#define BX 512
#define BY 1
#include "cell.h"
#include "unit.h"

// p = p + z
TASK correct_by(Range range, InOut p, ForeignOf<Real_z> z) {
  change_cells(range, everywhere(), CELL(c) { return p[c] + at(z, c); }, STORE(c, sum) { p[c] = sum; });
}

// p = p + z in units of the right-hand side
TASK correct_by_units(Range range, InOut p, ForeignOf<Real_z> z, In64 norm) {
  const double unit = unit_of(*norm);
  change_cells(range, everywhere(), CELL(c) { return p[c] + real(unit * *place(z, c)); }, STORE(c, sum) { p[c] = sum; });
}
