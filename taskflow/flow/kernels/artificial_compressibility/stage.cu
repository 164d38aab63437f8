// A stage of explicit pseudo-time, and the residual of the steady equations, or of a step of real time.
#define UZ 32
#define BX 32
#define BY 8
#define NARROWEST 8
#ifdef HAS_metrics
#define RESIDENT 2
#define BUFFERS 1
#else
#define RESIDENT (sizeof(REAL) == 4 ? 4 : 2)
#define BUFFERS 2
#endif
#include "stage.h"
#include "held.h"

// What a GPU holds of cells: the state and heat, of which central fluxes with a damped pressure on uniform cells read only that far
// from a face; metrics, if they are small; and, where there are none, what a stage begins with.
#ifdef HAS_T
constexpr int FIELDS = 5;
#else
constexpr int FIELDS = 4;
#endif
#if defined(HAS_metrics)
using Memory = Holding<FIELDS, FIELDS, sizeof(real) == 4 ? 10 : 0, 0>;
#elif defined(PRESSURE_DAMPING) && !defined(PLANAR)
using Memory = Holding<FIELDS, 1, 0, FIELDS>;
#else
using Memory = Holding<FIELDS, FIELDS, 0, FIELDS>;
#endif
SHARED(Memory::bytes)

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
template <class P, class Q, class C>
FN auto heat(Q T, const C& c, const Values<P::count>& out) {
  if constexpr (present<Q>) return settled(out.of[P::heat], P::mass(out.of), T[c]);
  else return None{};
}
template <class Source, class Rate>
FN void keep_heat(None, None, Source, Index, real, real, None, Rate) {}
template <class Begun, class Source, class Rate>
FN void keep_heat(Out T, Begun T_0, Source source, Index c, real dt, real volume, real leaving, Rate rate) {
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
  const auto lengths = held_steps(range);
  const auto q = fields(Memory::field<0>(p), Memory::field<1>(u), Memory::field<2>(v), Memory::field<3>(w));
  const auto warm = Memory::field<4>(T);
  const auto g = geometry(Memory::values(metrics), numbers);
  const real pace = real(*step);
  const auto change = number(rate);
  using P = Passing<decltype(T), decltype(d_p)>;
  const auto face = CELL(f) { return passing(q, warm, d_p, g, sides, b, swept, nu_t, None{}, f, lengths, numbers); };
  const auto begun = fields(Memory::own<0>(p_0), Memory::own<1>(u_0), Memory::own<2>(v_0), Memory::own<3>(w_0));
  const auto begun_T = Memory::own<4>(T_0);
  balance_held<P::count, AXES, Memory>(range, face, STORE(c, out) {
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
    keep_heat(T_new, begun_T, source, c, dt, volume, heat<P>(warm, c, out), change);
  }, all(p, u, v, w, T), all(p_0, u_0, v_0, w_0, T_0), metrics);
}

TASK residual(Range range, In p, In u, In v, In w, InByte sides, Out p_new, Out u_new, Out v_new, Out w_new OPTIONAL(T) OPTIONAL(T_new)
              OPTIONAL(source) OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t) OPTIONAL(f_x) OPTIONAL(f_y) OPTIONAL(f_z)
              OPTIONAL(aperture) OPTIONAL(wall) OPTIONAL(fluid) OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const auto lengths = held_steps(range);
  const auto q = fields(Memory::field<0>(p), Memory::field<1>(u), Memory::field<2>(v), Memory::field<3>(w));
  const auto warm = Memory::field<4>(T);
  const auto g = geometry(Memory::values(metrics), numbers);
  const auto change = number(rate);
  using P = Passing<decltype(T), None>;
  const auto face = CELL(f) { return passing(q, warm, None{}, g, sides, b, swept, nu_t, aperture, f, lengths, numbers); };
  balance_held<P::count, AXES, Memory>(range, face, STORE(c, out) {
    const real volume = g.volume(c), inverse = g.inverse_volume(c);
    const State leaving = state(out.of);
    const Vector force = lifted(pushed(f_x, f_y, f_z, c, numbers), T, c, numbers);
    const Vector momentum = plus(adhering(leaving.u, wall, p, u, v, w, c, steps, numbers, moving(wall, c)), -filled(volume, fluid, c), force);
    const Vector balance = changing(inverse * momentum, filled(change, fluid, c), q.velocity(c));
    keep({inverse * with_swept(leaving.p, wall, c), balance}, p_new, u_new, v_new, w_new, c);
    keep_heat_rate(T_new, T, source, c, inverse, volume, heat<P>(warm, c, out), change);
  }, all(p, u, v, w, T), all(), metrics);
}
