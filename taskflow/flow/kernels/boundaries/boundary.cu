// Values on the faces of the domain, and in the layer of ghost cells beyond them. N leads one cell into the domain.
#define UZ 1
#include "cell.h"

// q = value on every cell of the range
TASK impose(Range range, Out q, Value value) {
  for_cells(range, CELL(c) { q[c] = value.value; });
}

// q = q + value on every cell of the range
TASK add(Range range, InOut q, Value value) {
  for_cells(range, CELL(c) { q[c] += value.value; });
}

// q[ghost] = factor q[inside] + value
TASK mirror(Range range, InOut q, Mirror mirror) {
  FRAME(range)
  for_cells(range, CELL(c) { q[c] = mirror.factor * q[c + N] + mirror.value; });
}

// q[ghost] = factor q[inside] + value number, of a number that changes in time
TASK mirror_timed(Range range, InOut q, In64 number, Mirror mirror) {
  FRAME(range)
  const real value = real(mirror.value * *number);
  for_cells(range, CELL(c) { q[c] = mirror.factor * q[c + N] + value; });
}

// The same for two fields with values of their own
TASK mirror_two_timed(Range range, InOut q, InOut r, In64 first, In64 second, Mirror mirror) {
  FRAME(range)
  const real one = real(mirror.value * *first), other = real(mirror.value * *second);
  for_cells(range, CELL(c) {
    q[c] = mirror.factor * q[c + N] + one;
    r[c] = mirror.factor * r[c + N] + other;
  });
}

// As mirror, for two fields with values of their own
TASK mirror_two(Range range, InOut q, InOut r, MirrorTwo mirror) {
  FRAME(range)
  for_cells(range, CELL(c) {
    q[c] = mirror.factor * q[c + N] + mirror.first;
    r[c] = mirror.factor * r[c + N] + mirror.second;
  });
}
