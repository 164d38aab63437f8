// A step of conjugate gradients, in place.
#define UZ 2
#define BX 512
#define BY 1
#include "cell.h"

// 0 / 0 is replaced by 0: the solution is exact.
FN double quotient(double above, double below) { return below != 0 ? above / below : 0; }

struct Updated {
  real p, d;
};

// d = z, the first direction, and p goes along it to where the residual has no part in it: by rz / d Laplacian(d)
TASK cg_first_update(Range range, InOut p, Out d, ForeignOf<Real_z> z, In64 rz, In64 zAz) {
  const real step = real(quotient(*rz, *zAz));
  change_cells(range, everywhere(), CELL(c) {
    const real next = at(z, c);
    return Updated{p[c] + step * next, next};
  }, STORE(c, next) { p[c] = next.p, d[c] = next.d; });
}

// The same with d = z - (zAd / dAd) d
TASK cg_update(Range range, InOut p, InOut d, ForeignOf<Real_z> z, In64 rz, In64 zAz, In64 zAd, In64 dAd) {
  const double along = quotient(*zAd, *dAd);
  const real step = real(quotient(*rz, *zAz - along * *zAd)), back = real(along);
  change_cells(range, everywhere(), CELL(c) {
    const real next = at(z, c) - back * d[c];
    return Updated{p[c] + step * next, next};
  }, STORE(c, next) { p[c] = next.p, d[c] = next.d; });
}
