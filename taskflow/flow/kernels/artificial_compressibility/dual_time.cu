// Levels of real time: what those before add to a step, and the first guess of the next one.
#include "cell.h"

FN void empty(None, Index) {}
FN void empty(Out past, Index c) { past[c] = 0; }

FN real given_at(None, Index) { return 0; }
FN real given_at(In given, Index c) { return given[c]; }

template <class Given>
FN void add_levels(None, Given, Index, real, real, None, None) {}
template <class Given>
FN void add_levels(Out past, Given given, Index c, real q, real old, In64 now, In64 before) {
  past[c] = given_at(given, c) + (real(*now) * q + real(*before) * old);
}

TASK begin_levels(Range range, In q, Out old OPTIONAL(past)) {
  for_cells(range, CELL(c) {
    old[c] = q[c];
    empty(past, c);
  });
}

TASK next_level(Range range, InOut q, InOut old OPTIONAL(past) OPTIONAL(given), In64 ratio OPTIONAL(now) OPTIONAL(before)) {
  const real r = real(*ratio);
  for_cells(range, CELL(c) {
    const real here = q[c], there = old[c];
    add_levels(past, given, c, here, there, now, before);
    q[c] = here + r * (here - there), old[c] = here;
  });
}
