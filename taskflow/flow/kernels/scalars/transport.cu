// Transport by an incompressible flow: central differences of second order, Adams-Bashforth in time. q is in the centres of
// cells, u[i] on the low x-face of cell i, v[j] on the low y-face, w[k] on the low z-face.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../flags.h"
#include "../implicit.h"
#include "../metrics.h"
#include "diffusivity.h"

// Along one direction: advective flux of the velocity u through both faces of a cell, and diffusive flux into it. A uniform
// diffusivity is a factor of the whole, below.
struct Flow {
  real convected, diffused;
  // Diffusive part, except along the implicit direction
  INLINE real explicitly(int number) const { return number == IMPLICIT ? real(0) : diffused; }
};
FN real convected(In u, Index c, Axis a, real below, real here, real above) {
  return real(0.5) * a.per_cell() * (u[c + a.step] * (here + above) - u[c] * (below + here));
}

FN real diffused(const Even&, Index, Axis a, real below, real here, real above) {
  return a.second_derivative_in_cell(below, 2 * here, above);
}
FN real diffused(const Stirred& by, Index c, Axis a, real below, real here, real above) {
  const real low = by.between(c - a.step, c), high = by.between(c, c + a.step);
  return a.divergence_in_cell() *
         (high * (a.gradient_on_face(1) * (above - here)) - low * (a.gradient_on_face(0) * (here - below)));
}
template <class Diffusivity>
FN Flow flow(In q, In u, Index c, Axis a, const Diffusivity& by, None) {
  const real below = q[c - a.step], here = q[c], above = q[c + a.step];
  return {convected(u, c, a, below, here, above), diffused(by, c, a, below, here, above)};
}

// Next to bodies: diffusive flux through the low (0) or high face (1), over `divergence_in_cell`. The other side is fluid, with
// diffusivity `across`, or a body: insulated, or with a value on the face, half a cell from the centre.
FN real through(int kind, real here, real other, real across, real diffusivity, Axis a, int n) {
  const real weight = kind == 0 ? a.gradient_on_face(n) * across : a.gradient_at_wall() * (real(kind & ISOTHERMAL) * diffusivity);
  return weight * (other - here);
}
template <class Diffusivity>
FN Flow flow(In q, In u, Index c, Axis a, const Diffusivity& by, int kinds) {
  const real below = q[c - a.step], here = q[c], above = q[c + a.step];
  const real low = through(behind(kinds, 0), here, below, by.between(c - a.step, c), by.diffusivity, a, 0);
  const real high = through(behind(kinds, 1), here, above, by.between(c, c + a.step), by.diffusivity, a, 1);
  return {convected(u, c, a, below, here, above), a.divergence_in_cell() * (low + high)};
}

FN real times(const Even& by, None, real laplacian) { return by.diffusivity * laplacian; }
template <class Diffusivity, class Kinds>
FN real times(const Diffusivity&, Kinds, real diffusion) { return diffusion; }

TASK transport(Range range, In q, In u, In v, In w OPTIONAL(nu_t) OPTIONAL(q_faces), InOut h_q, Out q_new, In64 dt, In64 ratio,
               Grid grid, Transport transport OPTIONAL(prandtl)) {
  STRIDES(range)
  const auto by = diffusivity_of(transport.diffusivity, nu_t, prandtl);
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const auto kinds = flags_of(q_faces, c);
    const Flow x = flow(q, u, c, axis(grid, 0, c.i, X), by, kinds), y = flow(q, v, c, axis(grid, 1, c.j, Y), by, kinds >> 4);
    const Flow z = flow(q, w, c, axis(grid, 2, c.k, Z), by, kinds >> 8);
    const real convection = x.convected + y.convected + z.convected;
    const real diffused = x.explicitly(0) + y.explicitly(1) + z.explicitly(2);
    const real H = times(by, kinds, diffused)  // div(diffusivity grad q)
                   - convection               // div(u q)
                   + transport.source;
    const real old = h_q[c];
    h_q[c] = H;
    const real here = q[c], next = scheme.advance(here, H, old);
    q_new[c] = is_kept(kinds) ? here : next;
  });
}
