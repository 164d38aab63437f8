// Two of the sweeps by which machines are compared in one pass over memory: beyond the domain p is 0 after each.
#define UY 2
#define BX 64
#define BY 8
#define OVERLAP 1
#define RESIDENT (sizeof(real) == 4 ? 2 : 1)
#include "cell.h"
#include "twice.h"

// (the six neighbours of a cell - d) / 6
FN real relaxed(const Star& p, real d) {
  return (p.low[0] + p.high[0] + p.low[1] + p.high[1] + p.low[2] + p.high[2] - d) * real(1.0 / 6.0);
}

template <class C>
FN bool within(C c, const Box& domain) {
  const bool across_x = C::amid || (c.i >= domain.lo[0] && c.i < domain.hi[0]);
  const bool across_y = C::amid || (c.j >= domain.lo[1] && c.j < domain.hi[1]);
  return across_x && across_y && c.k >= domain.lo[2] && c.k < domain.hi[2];
}

FN void two_sweeps(const Range& range, In p, In d, Out p_new, const Box& domain) {
  const Amid amid{{domain.lo[0], domain.lo[1]}, {domain.hi[0] - 1, domain.hi[1] - 1}};
  twice(range, amid, p, d, p_new, SWEEP(q, c, d) { return within(c, domain) ? relaxed(q, d) : real(0); },
        SWEEP(q, c, d) { return relaxed(q, d); });
}

TASK jacobi_twice(Range range, In p, In d, Out p_new, Box domain) { two_sweeps(range, p, d, p_new, domain); }

// The same for a task that declares no neighbours: nobody fills its ghost cells.
TASK isolated_twice(Range range, In p, In d, Out p_new, Box domain) { two_sweeps(range, p, d, p_new, domain); }
