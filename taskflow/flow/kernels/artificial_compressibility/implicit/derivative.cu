// The derivative of the residual along a direction, exactly: the very text of the fluxes, for numbers with a derivative.
#define UZ 32
#define BX 32
#define BY 4
#define NARROWEST 4
#include "cell.h"
#include "faces.h"
#include "../geometry.h"
#include "../moving.h"
#include "../sides.h"
#include "tangent.h"
namespace tangent {
#include "../flux.h"
#include "../carried.h"
}
#include "../viscous.h"
#include "../eddies.h"
#include "../rate.h"
#include "../surfaces.h"
#include "compressible.h"

#ifdef PLANAR
constexpr int AXES = 2;
#else
constexpr int AXES = 3;
#endif

FN tangent::Compressibility fixed(None, const Numbers& n, Index, Index) { return {n.compressibility, n.inverse_compressibility}; }
FN tangent::Compressibility fixed(In b, const Numbers& n, Index one, Index other) {
  const real here = compressible(b, n, one, other);
  return {here, reciprocal(here)};
}

FN None steady(None) { return {}; }
FN tangent::real steady(real swept) { return swept; }

FN None with_slope(None, None) { return {}; }
FN tangent::In with_slope(In T, In slope) { return {T, slope}; }

// How what passes a face changes, with heat that of heat and the mass that passes, too; friction is linear, eddies are what they are.
template <class Heat, class F, class Geometry, class B, class Swept, class Eddies, class Aperture>
FN auto changed(const tangent::Fields& q, Heat T, In u, In v, In w, const Geometry& g, InByte sides, B b, Swept field, Eddies nu_t, Aperture aperture,
                const F& f, const Steps& steps, const Numbers& n) {
  const Index A = steps.of<F::axis>();
  const Lying side = lying_on(sides, f, A);
  const auto conduct = diffusion<F::axis>(g, f);
  const Vector friction = strain_on<F::axis>(nu_t, g, conduct, u, v, w, f, steps);
  const auto swept = steady(swept_by<F::axis>(field, f));
  const auto flux = tangent::through(tangent::continued(tangent::rows(q, f, A), aperture, f, side), g, f, side, fixed(b, n, f - A, f), n, swept);
  const tangent::State all = flux.all();
  const Vector momentum = plus({all.u.x.slope, all.u.y.slope, all.u.z.slope}, -viscosity_on(nu_t, n, f - A, f), friction);
  Values<4 + 2 * present<Heat>> out{{all.p.slope, momentum.x, momentum.y, momentum.z}};
  if constexpr (present<Heat>) {
    const tangent::real mass = tangent::relative(all.p, swept);
    out.of[4] = (mass * tangent::carried(tangent::row(T, f, A), mass, side, {n.least[2], n.per[2]})).slope - diffusivity_on(nu_t, n, f - A, f) * conduct(T.slope, f, steps);
    out.of[5] = all.p.value;
  }
  return opened(out, aperture, f);
}

// The lift of warmer fluid, and how the balance of heat changes
FN Vector lifted(None, Index, real, const Numbers&) { return {0, 0, 0}; }
FN Vector lifted(tangent::In T, Index c, real volume, const Numbers& n) {
  const real warm = volume * T.slope[c];
  return {n.lift[0] * warm, n.lift[1] * warm, n.lift[2] * warm};
}
FN void keep_heat(None, None, Index, const Values<4>&, real) {}
FN void keep_heat(Out T_out, tangent::In T, Index c, const Values<6>& out, real all) {
  T_out[c] = out.of[4] - (out.of[0] * T.value[c] + out.of[5] * T.slope[c]) + all * T.slope[c];
}

TASK derivative(Range range, In p, In u, In v, In w, InByte sides, In p_d, In u_d, In v_d, In w_d, Out p_out, Out u_out, Out v_out, Out w_out
                OPTIONAL(T) OPTIONAL(T_d) OPTIONAL(T_out), In pseudo OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t)
                OPTIONAL(aperture) OPTIONAL(wall) OPTIONAL(fluid) OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const tangent::Fields q{{p, p_d}, {u, u_d}, {v, v_d}, {w, w_d}};
  const auto heat = with_slope(T, T_d);
  const auto g = geometry(metrics, numbers);
  const auto change = number(rate);
  const auto face = CELL(f) { return changed(q, heat, u_d, v_d, w_d, g, sides, b, swept, nu_t, aperture, f, steps, numbers); };
  constexpr int COUNT = 4 + 2 * present<decltype(T)>;
  balance_cells<COUNT, AXES>(range, face, STORE(c, out) {
    const real volume = g.volume(c), all = both(pseudo[c], filled(change, fluid, c), volume);
    const Vector lift = lifted(heat, c, volume, numbers);
    p_out[c] = out.of[0] + pseudo[c] * reciprocal(compressible(b, numbers, c, c)) * p_d[c];
    const Vector momentum = adhering({out.of[1], out.of[2], out.of[3]}, wall, p_d, u_d, v_d, w_d, c, steps, numbers, {0, 0, 0});
    u_out[c] = momentum.x + all * u_d[c] - lift.x, v_out[c] = momentum.y + all * v_d[c] - lift.y;
    w_out[c] = momentum.z + all * w_d[c] - lift.z;
    keep_heat(T_out, heat, c, out, all);
  });
}
