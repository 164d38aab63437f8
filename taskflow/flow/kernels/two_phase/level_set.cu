// The level set: phi > 0 in phase 1, |grad phi| = 1. A stage of Runge-Kutta (C.-W. Shu, S. Osher 1988) for its transport.
// Beyond `band.weno` of the interface differences are of first order.
#define RESIDENT 2
#include "cell.h"
#include "ahead.h"
#include "weno.h"

FN real begun(const RungeKuttaStage&, None, Index, real next) { return next; }
FN real begun(const RungeKuttaStage& stage, In q, Index c, real next) { return stage.begun * q[c] + stage.now * next; }

// The velocity that carries the interface, in the centre of a cell: u + 0.1 ratio (u - u_old), the mean of both faces
struct Carrier {
  real lead;
  INLINE real centre(In q, In q_old, Index c, Index S) const {
    return real(0.5) * (ahead(q, q_old, c, lead) + ahead(q, q_old, c + S, lead));
  }
};

// u dphi/dx, from the side that the flow comes from
FN real carried(real u, const Slopes& s) { return u * (u > 0 ? s.low : s.high); }

// phi_new = begun phi_begun + now (phi - dt u . grad(phi))
TASK advect_level_set(Range range, In phi OPTIONAL(phi_begun), In u, In v, In w, In u_old, In v_old, In w_old, Out phi_new,
                      In64 dt, In64 ratio, Grid grid, Band band, RungeKuttaStage stage) {
  STRIDES(range)
  const real step = real(*dt);
  const Carrier carrier{real(0.1 * *ratio)};
  for_cells(range, CELL(c) {
    const Lines a = lines(grid, c, X, Y, Z, band);
    const real here = phi[c], su = carrier.centre(u, u_old, c, X), sv = carrier.centre(v, v_old, c, Y);
    const real sw = carrier.centre(w, w_old, c, Z);
    real rate;
    if (magnitude(here) < band.weno) {
      rate = carried(su, fifth_order(phi, c, a.x)) + carried(sv, fifth_order(phi, c, a.y)) + carried(sw, fifth_order(phi, c, a.z));
    } else {
      rate = carried(su, first_order(phi, c, a.x)) + carried(sv, first_order(phi, c, a.y)) + carried(sw, first_order(phi, c, a.z));
    }
    phi_new[c] = begun(stage, phi_begun, c, here - step * rate);
  });
}

FN real square(real a) { return a * a; }

// The square of the steeper one
FN real steeper(const Slopes& s) { return larger(square(s.low), square(s.high)); }

// d = phi / |grad phi|, of each axis the steeper side: phi itself where it is even
TASK nearly_distance(Range range, In phi, Out d, Grid grid, Band band) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const Lines a = lines(grid, c, X, Y, Z, band);
    const real here = phi[c];
    const real steep = steeper(first_order(phi, c, a.x)) + steeper(first_order(phi, c, a.y)) + steeper(first_order(phi, c, a.z));
    d[c] = steep > 0 ? here / root(steep) : here;
  });
}
