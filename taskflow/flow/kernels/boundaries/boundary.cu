// What walls do to the velocity and the temperature beside them.
#define UZ 1
#include "cell.h"

// q = value on every cell of the range
TASK impose(Range range, Out q, Value value) {
  for_cells(range, CELL(c) { q[c] = value.value; });
}

// Ghost cells become factor times the cell inside plus a value. The range is the layer of ghost cells; `inside` is one
// step into the domain.
#define MIRRORS(name, inside)                                                                                    \
  TASK mirror_##name(Range range, InOut q, Mirror mirror) {                                                      \
    STRIDES(range)                                                                                               \
    for_cells(range, CELL(c) { q[c] = mirror.factor * q[c + (inside)] + mirror.value; });                        \
  }                                                                                                              \
  TASK mirror_two_##name(Range range, InOut q, InOut r, MirrorTwo mirror) {                                      \
    STRIDES(range)                                                                                               \
    for_cells(range, CELL(c) {                                                                                   \
      q[c] = mirror.factor * q[c + (inside)] + mirror.first;                                                     \
      r[c] = mirror.factor * r[c + (inside)] + mirror.second;                                                    \
    });                                                                                                          \
  }

MIRRORS(x_min, X)
MIRRORS(x_max, -X)
MIRRORS(y_min, Y)
MIRRORS(y_max, -Y)
MIRRORS(z_min, Z)
MIRRORS(z_max, -Z)
