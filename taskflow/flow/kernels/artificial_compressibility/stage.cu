// A stage of explicit pseudo-time, and the residual of the steady equations, or of a step of real time.
#include "stage.h"

FN void keep(const State& q, Out p, Out u, Out v, Out w, Index c) { p[c] = q.p, u[c] = q.u.x, v[c] = q.u.y, w[c] = q.u.z; }

// All that leaves a cell. Where it is kept, what friction and scheme add is mixed with what they added in a stage before.
template <class P>
FN State mixed(const Values<P::count>& out, None, None, None, None, Index, const Numbers&) { return state(out.of); }
template <class P>
FN State mixed(const Values<P::count>& out, InOut p, InOut u, InOut v, InOut w, Index c, const Numbers& n) {
  const State before{p[c], {u[c], v[c], w[c]}}, added = n.fresh * state(out.of + P::added) + (1 - n.fresh) * before;
  keep(added, p, u, v, w, c);
  return state(out.of) + added;
}
template <class P>
FN None heat(None, Index, const Values<P::count>&) { return {}; }
template <class P>
FN real heat(In T, Index c, const Values<P::count>& out) { return settled(out.of[P::heat], P::mass(out.of), T[c]); }
template <class Source, class Rate>
FN void keep_heat(None, None, Source, Index, real, real, None, Rate) {}
template <class Source, class Rate>
FN void keep_heat(Out T, In T_0, Source source, Index c, real dt, real volume, real leaving, Rate rate) {
  T[c] = slowed(fused(-dt, supplied(leaving, source, volume, c), T_0[c]), rate, dt * volume);
}
template <class Source, class Rate>
FN void keep_heat_rate(None, None, Source, Index, real, real, None, Rate) {}
template <class Source, class Rate>
FN void keep_heat_rate(Out r, In T, Source source, Index c, real inverse, real volume, real leaving, Rate rate) {
  r[c] = changing(inverse * supplied(leaving, source, volume, c), rate, T[c]);
}

TASK stage(Range range, In p, In u, In v, In w, In p_0, In u_0, In v_0, In w_0, Out p_new, Out u_new, Out v_new, Out w_new,
           InByte sides OPTIONAL(T) OPTIONAL(T_0) OPTIONAL(T_new) OPTIONAL(source) OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b)
           OPTIONAL(nu_t) OPTIONAL(f_x) OPTIONAL(f_y) OPTIONAL(f_z) OPTIONAL(d_p) OPTIONAL(d_u) OPTIONAL(d_v) OPTIONAL(d_w), In64 step
           OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w}, begun{p_0, u_0, v_0, w_0};
  const auto g = geometry(metrics, numbers);
  const real pace = real(*step);
  const auto change = number(rate);
  using P = Passing<decltype(T), decltype(d_p)>;
  const auto face = CELL(f) { return passing(q, T, d_p, g, sides, b, swept, nu_t, f, steps, numbers); };
  balance_cells<P::count, AXES>(range, face, STORE(c, out) {
    const State old = begun[c];
    const real here = compressibility(b, numbers, c, c).here, volume = g.volume(c);
#ifdef GLOBAL_STEPS
    const real dt = numbers.fraction * pace * g.inverse_volume(c);
#else
    const real dt = numbers.fraction * pace * reciprocal(per_step(g, c, old.u, here, numbers, swept, nu_t, steps));
#endif
    const Vector force = lifted(pushed(f_x, f_y, f_z, c, numbers), T, c, numbers);
    const State leaving = mixed<P>(out, d_p, d_u, d_v, d_w, c, numbers);
    const Vector next = slowed(plus(old.u, -dt, plus(leaving.u, -volume, force)), change, dt * volume);
    keep({fused(-(dt * here), leaving.p, old.p), next}, p_new, u_new, v_new, w_new, c);
    keep_heat(T_new, T_0, source, c, dt, volume, heat<P>(T, c, out), change);
  });
}

TASK residual(Range range, In p, In u, In v, In w, Out p_new, Out u_new, Out v_new, Out w_new OPTIONAL(T) OPTIONAL(T_new) OPTIONAL(source),
              InByte sides OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t) OPTIONAL(f_x) OPTIONAL(f_y) OPTIONAL(f_z)
              OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  const auto change = number(rate);
  using P = Passing<decltype(T), None>;
  const auto face = CELL(f) { return passing(q, T, None{}, g, sides, b, swept, nu_t, f, steps, numbers); };
  balance_cells<P::count, AXES>(range, face, STORE(c, out) {
    const real volume = g.volume(c), inverse = g.inverse_volume(c);
    const State leaving = state(out.of);
    const Vector force = lifted(pushed(f_x, f_y, f_z, c, numbers), T, c, numbers);
    const Vector balance = changing(inverse * plus(leaving.u, -volume, force), change, q.velocity(c));
    keep({inverse * leaving.p, balance}, p_new, u_new, v_new, w_new, c);
    keep_heat_rate(T_new, T, source, c, inverse, volume, heat<P>(T, c, out), change);
  });
}
