// Interpolation between the cells of a coarser level of multigrid, which fill the same domain.
#include "mesh.h"

FN int floored(real x) { return int(x + 1) - 1; }  // for x >= -1

// Along one direction: the two coarse cells whose centres enclose the centre of a fine cell, and their weights. Outside a face
// of the domain the last inner cell is mirrored.
struct Between {
  int low, high;
  real low_weight, high_weight;
};

FN Between between(int fine, real ratio, const Mesh& m, int axis) {
  const real x = (fine + real(0.5)) * ratio - real(0.5);
  const bool halved = ratio == real(0.5);  // then the same without a conversion
  const int low = halved ? ((fine + 1) >> 1) - 1 : floored(x), high = low + 1;
  const real part = halved ? (fine & 1 ? real(0.25) : real(0.75)) : x - low;
  const bool before = low < m.first[axis], behind = m.last[axis] < high;
  return {before ? m.first[axis] : low, behind ? m.last[axis] : high, (1 - part) * (before ? m.mirror_low[axis] : real(1)),
          part * (behind ? m.mirror_high[axis] : real(1))};
}

// Values of a coarse level in the four surrounding cells of one plane, and their mean
struct Square {
  real of[2][2];
};

FN Square square(const Foreign& q, const Between& x, const Between& y, int k) {
  return {{{at(q, x.low, y.low, k), at(q, x.high, y.low, k)}, {at(q, x.low, y.high, k), at(q, x.high, y.high, k)}}};
}

FN real mean(const Square& q, const Between& x, const Between& y) {
  return y.low_weight * (x.low_weight * q.of[0][0] + x.high_weight * q.of[0][1]) +
         y.high_weight * (x.low_weight * q.of[1][0] + x.high_weight * q.of[1][1]);
}

FN Between along_z(Cell c, real ratio, const Mesh& m) { return between(c.k, ratio, m, 2); }

// In an inner cell of a pair: the compiler sees which coarse cells its neighbours share
FN Between along_z(Inner c, real, const Mesh&) {
  const int low = c.half + c.odd - 1;
  const real part = c.odd ? real(0.25) : real(0.75);
  return {low, low + 1, 1 - part, part};
}

// Fine cells that lie two by two in coarse ones, and do not see beyond faces across y and z
FN Interior paired(const Mesh& m) {
  Interior in = {{m.first[1], m.first[2]}, {m.last[1], m.last[2]}, true};
  for (int n = 0; n < 2; ++n) {
    if (in.low[n] == 0) in.low[n] = 1;
    if (in.high[n] < m.cells[n + 1]) in.high[n] *= 2;
  }
  return in;
}
