// The volume of phase 1 that passes where fluid enters and leaves.
#define UZ 1
#include "cell.h"
#include "ahead.h"

// volume = kept + what enters in a step, less what leaves if that counts. A face adds its part of what was kept: their sum is kept,
// to rounding.
TASK pass_volume(Range range, In f, In q, In q_old, ExactPartial<1> volume, ExactIn64<1> kept, In64 dt, In64 ratio,
                 Opening opening, real bound, int leaving) {
  FRAME(range)
  const real lead = real(0.1 * *ratio);
  const double step = *dt * opening.inverse, before = kept[0] / opening.faces;
  exact_sum_cells(range, volume, Sums<1>{{bound}}, CELL(c) {
    const real out = real(opening.sign) * ahead(q, q_old, c, lead);
    const real inside = f[c + (HIGH ? N : 0)], beyond = f[c - (HIGH ? 0 : N)];
    const double passed = step * double(out) * double(out > 0 ? inside : real(0.5) * (inside + beyond));
    return Sums<1>{{before - ((out > 0) & !leaving ? 0.0 : passed)}};
  });
}

// volume = kept + the shares that pass the faces of a side into the domain, less those that leave if that counts
TASK pass_shares(Range range, In flux, ExactPartial<1> volume, ExactIn64<1> kept, Opening opening, real bound, int leaving) {
  const double before = kept[0] / opening.faces;
  exact_sum_cells(range, volume, Sums<1>{{bound}}, CELL(c) {
    const double out = double(opening.sign) * double(flux[c]);
    return Sums<1>{{before - ((out > 0) & !leaving ? 0.0 : out)}};
  });
}
