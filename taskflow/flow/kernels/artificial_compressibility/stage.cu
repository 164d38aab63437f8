// A stage of explicit pseudo-time, and the residual of the steady equations.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 2
#define PLANES 1
#include "cell.h"
#include "balance.h"
#include "pace.h"

struct Stepped {
  State next, added;
  real heat;
};

// What scheme and friction add, mixed with what they added in a stage before
FN State mixed(const State& now, None, None, None, None, Index, const Numbers&) { return now; }
FN State mixed(const State& now, In p, In u, In v, In w, Index c, const Numbers& n) {
  const real kept = 1 - n.fresh;
  return {n.fresh * now.p + kept * p[c], {n.fresh * now.u.x + kept * u[c], n.fresh * now.u.y + kept * v[c], n.fresh * now.u.z + kept * w[c]}};
}
FN void keep(const State&, None, None, None, None, Index) {}
FN void keep(const State& q, Out p, Out u, Out v, Out w, Index c) { p[c] = q.p, u[c] = q.u.x, v[c] = q.u.y, w[c] = q.u.z; }
FN real warmed(None, None, real, real) { return 0; }
FN real warmed(In, In T_0, Index c, real change) { return T_0[c] - change; }
FN void keep_heat(None, Index, real) {}
FN void keep_heat(Out T, Index c, real value) { T[c] = value; }

TASK stage(Range range, In p, In u, In v, In w, In p_0, In u_0, In v_0, In w_0, Out p_new, Out u_new, Out v_new, Out w_new
           OPTIONAL(T) OPTIONAL(T_0) OPTIONAL(T_new), InByte sides OPTIONAL(metrics) OPTIONAL(b)
           OPTIONAL(f_x) OPTIONAL(f_y) OPTIONAL(f_z) OPTIONAL(d_p) OPTIONAL(d_u) OPTIONAL(d_v) OPTIONAL(d_w), In64 step, Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w}, begun{p_0, u_0, v_0, w_0};
  const auto g = geometry(metrics, numbers);
  const real pace = real(*step);
  for_cells_and_sides(range, CELL(c) {
    const State old = begun[c];
    const real here = compressibility(b, numbers, c, c), volume = g.volume(c);
    const Balance out = balance(q, T, g, sides, b, c, steps, numbers);
#ifdef GLOBAL_STEPS
    const real dt = numbers.fraction * pace * reciprocal(volume);
#else
    const real dt = numbers.fraction * pace * reciprocal(per_step(g, c, old.u, here, numbers));
#endif
    const State added = mixed(out.added, d_p, d_u, d_v, d_w, c, numbers);
    const State rate = out.carried + added;
    const Vector force = lifted(pushed(f_x, f_y, f_z, c, numbers), T, c, numbers);
    const State next{old.p - dt * here * rate.p, plus(old.u, -dt, plus(rate.u, -volume, force))};
    const real heat = warmed(T, T_0, c, dt * out.heat);
    loaded();
    keep(next, p_new, u_new, v_new, w_new, c);
    keep_heat(T_new, c, heat);
    keep(added, d_p, d_u, d_v, d_w, c);
  });
}

TASK residual(Range range, In p, In u, In v, In w, Out p_new, Out u_new, Out v_new, Out w_new OPTIONAL(T) OPTIONAL(T_new), InByte sides
              OPTIONAL(metrics) OPTIONAL(b) OPTIONAL(f_x) OPTIONAL(f_y) OPTIONAL(f_z), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  for_cells_and_sides(range, CELL(c) {
    const real volume = g.volume(c), inverse = reciprocal(volume);
    const Balance out = balance(q, T, g, sides, b, c, steps, numbers);
    const State rate = out.carried + out.added;
    const Vector force = lifted(pushed(f_x, f_y, f_z, c, numbers), T, c, numbers);
    loaded();
    keep({inverse * rate.p, inverse * plus(rate.u, -volume, force)}, p_new, u_new, v_new, w_new, c);
    keep_heat(T_new, c, inverse * out.heat);
  });
}
