// A step of conjugate gradients, in place: columns of one cell, since a store keeps later loads waiting.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"

// What would be 0 / 0 is 0: then there is nothing left to do.
FN double quotient(double above, double below) { return below != 0 ? above / below : 0; }

// How far to go along d = z - (zAd / dAd) d: rz / d Laplacian(d), of the new d
FN real length(In64 rz, In64 zAz, In64 zAd, In64 dAd) { return real(quotient(*rz, *zAz - quotient(*zAd * *zAd, *dAd))); }

// d = z - (zAd / dAd) d, and p goes along it to where the residual has no part in it
template <class Number>
FN void advanced(const Range& range, InOut p, InOut d, ForeignOf<Number> z, In64 rz, In64 zAz, In64 zAd, In64 dAd) {
  const real step = length(rz, zAz, zAd, dAd), back = real(quotient(*zAd, *dAd));
  for_cells(range, CELL(c) {
    const real next = at(z, c.i, c.j, c.k) - back * d[c];
    d[c] = next;
    p[c] += step * next;
  });
}

TASK advance(Range range, InOut p, InOut d, Foreign z, In64 rz, In64 zAz, In64 zAd, In64 dAd) {
  advanced(range, p, d, z, rz, zAz, zAd, dAd);
}

TASK advance_single(Range range, InOut p, InOut d, ForeignSingle z, In64 rz, In64 zAz, In64 zAd, In64 dAd) {
  advanced(range, p, d, z, rz, zAz, zAd, dAd);
}
