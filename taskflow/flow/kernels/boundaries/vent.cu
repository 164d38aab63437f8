// A vent: fluid enters from rest outside, or leaves. N leads one cell into the domain.
#define UZ 1
#include "cell.h"

FN double outside_pressure(None) { return 0; }
FN double outside_pressure(In64 pressure) { return *pressure; }

// q_new = (q + change inside - sign dt (pressure - p) / (spacing / 2)) / (1 + dt k |q| / spacing), less the part of p
TASK pass_vent(Range range, InOut q_new, In q, In p, In64 dt OPTIONAL(pressure), Opening opening, Loss loss) {
  FRAME(range)
  const double step = 2 * *dt * opening.inverse * opening.sign;
  const real push = real(step * outside_pressure(pressure)), gain = real(step), drag = real(*dt * opening.inverse);
  for_cells(range, CELL(c) {
    const real speed = opening.sign * q[c], k = speed > 0 ? loss.loss : loss.loss + 1, size = speed > 0 ? speed : -speed;
    const real next = q[c] + (q_new[c + N] - q[c + N]) - push, back = gain * p[c + (HIGH ? N : 0)];
    q_new[c] = (next + back) / (1 + drag * k * size) - back;
  });
}

FN real given(None, real value) { return value; }
FN real given(In64 number, real value) { return real(value * *number); }

// q[ghost] = 2 value - q[inside] where fluid enters, else q[inside]
TASK enter(Range range, InOut q, In normal OPTIONAL(number), Outside outside) {
  FRAME(range)
  const real twice = 2 * given(number, outside.value);
  for_cells(range, CELL(c) {
    const real inward = HIGH ? -normal[c] : normal[c + N];
    q[c] = inward > 0 ? twice - q[c + N] : q[c + N];
  });
}

// As enter with the value 0, for a velocity along the side between two normal ones
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
