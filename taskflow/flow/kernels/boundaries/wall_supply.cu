// Moving, heated and cooled parts of a body's face: what they add to the fluid in the cells next to them.
#define UZ 1
#include "cell.h"
#include "../adams_bashforth.h"

FN real given(None, real value) { return value; }
FN real given(In64 number, real value) { return real(value * *number); }
FN real drawn(None, Index, real) { return 0; }
FN real drawn(In q, Index c, real rate) { return rate * q[c]; }

// H gains F = value number - rate q, and q_new its contribution to the stage
TASK supply(Range range, InOut h, InOut q_new OPTIONAL(q), In64 dt, In64 ratio OPTIONAL(number), CellSupply supply) {
  const AdamsBashforth scheme(dt, ratio);
  const real value = given(number, supply.value);
  for_cells(range, CELL(c) {
    const real F = value - drawn(q, c, supply.rate);
    const real H = h[c] + F, next = q_new[c] + scheme.gain(F);
    loaded();
    h[c] = H, q_new[c] = next;
  });
}

// q_new = q_new + part dt F
TASK supply_bounded(Range range, InOut q_new OPTIONAL(q), In64 dt OPTIONAL(number), CellSupply supply, real part) {
  const real step = part * real(*dt), value = given(number, supply.value);
  for_cells(range, CELL(c) { q_new[c] += step * (value - drawn(q, c, supply.rate)); });
}
