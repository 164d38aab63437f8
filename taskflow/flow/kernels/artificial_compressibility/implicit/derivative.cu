// The derivative of the residual along a direction, exactly: the very text of the fluxes, for numbers with a derivative.
#define UZ 32
#define BX 32
#define BY 4
#include "cell.h"
#include "faces.h"
#include "../geometry.h"
#include "../moving.h"
#include "../sides.h"
#include "tangent.h"
namespace tangent {
#include "../flux.h"
}
#include "../viscous.h"
#include "../pace.h"
#include "../rate.h"
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

// How what passes a face changes; friction is linear.
template <class F, class Geometry, class B, class Swept>
FN Values<4> changed(const tangent::Fields& q, In u, In v, In w, const Geometry& g, InByte sides, B b, Swept field, const F& f, const Steps& steps,
                    const Numbers& n) {
  const Index A = steps.of<F::axis>();
  const Lying side = lying_on(sides, f, A);
  const auto conduct = diffusion<F::axis>(g, f);
  const Vector friction{conduct(u, f, steps), conduct(v, f, steps), conduct(w, f, steps)};
  const auto swept = steady(swept_by<F::axis>(field, f));
  const tangent::Flux flux = tangent::through(tangent::rows(q, f, A), g, f, side, fixed(b, n, f - A, f), n, swept);
  const tangent::State all = flux.carried + flux.added;
  const Vector momentum = plus({all.u.x.slope, all.u.y.slope, all.u.z.slope}, -n.viscosity, friction);
  return {{all.p.slope, momentum.x, momentum.y, momentum.z}};
}

TASK derivative(Range range, In p, In u, In v, In w, In p_d, In u_d, In v_d, In w_d, Out p_out, Out u_out, Out v_out, Out w_out,
                InByte sides OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b), In64 slowness OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const tangent::Fields q{{p, p_d}, {u, u_d}, {v, v_d}, {w, w_d}};
  const auto g = geometry(metrics, numbers);
  const real slow = real(*slowness);
  const auto change = number(rate);
  const auto face = CELL(f) { return changed(q, u_d, v_d, w_d, g, sides, b, swept, f, steps, numbers); };
  balance_cells<4, AXES>(range, face, STORE(c, out) {
    const real here = compressible(b, numbers, c, c), pseudo = slow * per_step(g, c, {u[c], v[c], w[c]}, here, numbers, swept);
    const real all = both(pseudo, change, g.volume(c));
    p_out[c] = out.of[0] + pseudo * reciprocal(here) * p_d[c];
    u_out[c] = out.of[1] + all * u_d[c], v_out[c] = out.of[2] + all * v_d[c], w_out[c] = out.of[3] + all * w_d[c];
  });
}
