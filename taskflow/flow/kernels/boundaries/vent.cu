// A vent: fluid enters from rest outside, or leaves. N leads one cell into the domain.
#define UZ 1
#include "cell.h"
#include "loss.h"

// q_new = q_new - (q_new + back) d / (1 + d), d = dt k |q| / spacing, back = sign dt p / (spacing / 2)
TASK resist(Range range, InOut q_new, In q, In p, In64 dt, Opening opening, Loss loss) {
  FRAME(range)
  const real gain = real(2 * *dt * opening.inverse * opening.sign), drag = real(*dt * opening.inverse);
  for_cells(range, CELL(c) {
    q_new[c] = slowed(q_new[c], gain * p[c + (HIGH ? N : 0)], q[c], drag, opening, loss);
  });
}

FN real given(None, real value) { return value; }
FN real given(In64 number, real value) { return real(value * *number); }

// q[ghost] = factor q[inside] + value where fluid enters, else q[inside]
TASK enter(Range range, InOut q, In normal OPTIONAL(number), Mirror mirror) {
  FRAME(range)
  const real value = given(number, mirror.value);
  for_cells(range, CELL(c) {
    const real inward = HIGH ? -normal[c] : normal[c + N];
    q[c] = inward > 0 ? mirror.factor * q[c + N] + value : q[c + N];
  });
}

// As enter with the factor -1 and the value 0, for a velocity along the side between two normal ones
TASK enter_along_r(Range range, InOut r, In normal) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Index face = c + (HIGH ? 0 : N);
    const real inward = (HIGH ? -1 : 1) * (normal[face] + normal[face - R]);
    r[c] = inward > 0 ? -r[c + N] : r[c + N];
  });
}

TASK enter_along_s(Range range, InOut s, In normal) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Index face = c + (HIGH ? 0 : N);
    const real inward = (HIGH ? -1 : 1) * (normal[face] + normal[face - S]);
    s[c] = inward > 0 ? -s[c + N] : s[c + N];
  });
}
