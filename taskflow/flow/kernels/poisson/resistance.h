// Interpolation between the cells of a coarser level of multigrid where coefficients are variable.
#include "between.h"

// Resistance between the centres of a fine and a coarse cell, over / under: length over b, `near` on the first face between
// them and `far` on the second. A closed face has a very small b.
struct Way {
  real over, under;
};

FN Way way(real length, real near, real far) {
  const real first = length > 1 ? real(1) : length, second = length - first;
  return {first * far + second * near, near * far};
}

// b on the faces between a fine cell and both coarse cells: at the faces of the fine cell, and on the next ones if they lie
// between.
struct Crossed {
  real before, below, above, behind;
};

// b is at the low face of the fine cell, b[step] at its high one.
FN Crossed crossed(const Between& plain, real length, const real* b, Index step) {
  return {b[plain.high_weight * length > 1 ? -step : 0], b[0], b[step], b[plain.low_weight * length > 1 ? 2 * step : step]};
}

// `between` where b changes: p falls along both ways as a flux through all of it has it fall.
FN Between between(const Between& plain, real length, const Crossed& b) {
  if (plain.low + 1 != plain.high || (b.below == b.above && b.below == b.before && b.above == b.behind)) return plain;
  const real to_low = plain.high_weight * length, to_high = plain.low_weight * length;
  const real little = real(1e-6) * ((b.below + b.above) + (b.before + b.behind));
  const Way low = way(to_low, b.below + little, b.before + little), high = way(to_high, b.above + little, b.behind + little);
  const real down = low.over * high.under, total = down + high.over * low.under;
  const real part = total > 0 ? down / total : plain.high_weight;
  return {plain.low, plain.high, 1 - part, part};
}

// The correction that four coarse cells below and four above a fine one give it
FN real corrected(const Square& below, const Square& above, const Between& x, const Between& y, const Between& z) {
  return z.low_weight * mean(below, x, y) + z.high_weight * mean(above, x, y);
}
