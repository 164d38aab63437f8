// A stage of a passive scalar, carried by the mass fluxes of a stage of the flow.
#define UZ 32
#define BX 32
#define NARROWEST 4
#ifdef HAS_metrics
#define BY (sizeof(REAL) == 4 ? 4 : 8)
#define RESIDENT (sizeof(REAL) == 4 ? 5 : 2)
#define BUFFERS (sizeof(REAL) == 4 ? 2 : 1)
#else
#define BY 4
#define RESIDENT (sizeof(REAL) == 4 ? 8 : 4)
#endif
#include "stage.h"

template <class F, class Geometry, class B, class Swept, class Eddies>
FN Values<2> transported(const Fields& q, In T, const Geometry& g, InByte sides, B b, Swept field, Eddies nu_t, const F& f, const Steps& steps,
                         const Numbers& n) {
  const Index A = steps.of<F::axis>();
  const Lying side = lying_on(sides, f, A);
  const Warmth warmth = heat_on(T, diffusion<F::axis>(g, f), f, steps);
  const auto swept = swept_by<F::axis>(field, f);
  const auto flux = through(rows(q, f, A), g, f, side, compressibility(b, n, f - A, f), n, swept);
  const real mass = flux.mass();
  return {{heat_through(warmth, relative(mass, swept), side, diffusivity_on(nu_t, n, f - A, f), n), mass}};
}

TASK transport(Range range, In p, In u, In v, In w, In u_0, In v_0, In w_0, In T, In T_0, Out T_new OPTIONAL(source), InByte sides
               OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t), In64 step OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  const real pace = real(*step);
  const auto change = number(rate);
  const auto face = CELL(f) { return transported(q, T, g, sides, b, swept, nu_t, f, steps, numbers); };
  balance_cells<2, AXES>(range, face, STORE(c, out) {
#ifdef GLOBAL_STEPS
    const real dt = numbers.fraction * pace * g.inverse_volume(c);
#else
    const real here = compressibility(b, numbers, c, c).here;
    const real dt = numbers.fraction * pace * reciprocal(per_step(g, c, {u_0[c], v_0[c], w_0[c]}, here, numbers, swept, nu_t, steps));
#endif
    const real volume = g.volume(c);
    T_new[c] = slowed(fused(-dt, supplied(settled(out.of[0], out.of[1], T[c]), source, volume, c), T_0[c]), change, dt * volume);
  });
}
