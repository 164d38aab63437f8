// A stage of a passive scalar, carried by the mass fluxes of a stage of the flow.
#define UZ 1
#define BX 64
#define BY 4
#define PLANES 1
#include "cell.h"
#include "balance.h"
#include "pace.h"

template <int D, int M, class C, class Geometry, class B>
FN real scalar_through(const Fields& q, In s, const Geometry& g, InByte sides, B b, const C& c, const Steps& steps, const Numbers& n) {
  const Index A = steps.of<D>(), at = Index(c) + M * A;
  const Flux flux = through<D, M>(q, g, sides, c, steps, compressibility(b, n, at - A, at), n);
  return heat_through<D, M>(s, flux.carried.p + flux.added.p, diffusion<D, M>(g, c), sides, c, steps, n);
}
#ifndef GPU
template <int D, int M, class Geometry, class B>
static __attribute__((noinline)) real scalar_through(const Fields& q, In s, const Geometry& g, InByte sides, B b, const Outermost& c,
                                                     const Steps& steps, const Numbers& n) {
  return scalar_through<D, M, Outermost>(q, s, g, sides, b, c, steps, n);
}
#endif

TASK transport(Range range, In p, In u, In v, In w, In u_0, In v_0, In w_0, In T, In T_0, Out T_new, InByte sides OPTIONAL(metrics)
               OPTIONAL(b), In64 step, Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  const real pace = real(*step);
  for_cells_and_sides(range, CELL(c) {
#ifdef GLOBAL_STEPS
    const real dt = numbers.fraction * pace * reciprocal(g.volume(c));
#else
    const real dt = numbers.fraction * pace * reciprocal(per_step(g, c, {u_0[c], v_0[c], w_0[c]}, compressibility(b, numbers, c, c), numbers));
#endif
    const real x = scalar_through<0, 1>(q, T, g, sides, b, c, steps, numbers) - scalar_through<0, 0>(q, T, g, sides, b, c, steps, numbers);
    const real y = scalar_through<1, 1>(q, T, g, sides, b, c, steps, numbers) - scalar_through<1, 0>(q, T, g, sides, b, c, steps, numbers);
#ifdef PLANAR
    T_new[c] = T_0[c] - dt * (x + y);
#else
    const real z = scalar_through<2, 1>(q, T, g, sides, b, c, steps, numbers) - scalar_through<2, 0>(q, T, g, sides, b, c, steps, numbers);
    T_new[c] = T_0[c] - dt * ((x + y) + z);
#endif
  });
}
