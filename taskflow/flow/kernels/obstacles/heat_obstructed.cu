// Heat beside bodies: none passes into those that are insulated; others have a temperature at their faces, half a cell
// from the centre of the cell beside them.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../flags.h"
#include "../metrics.h"
#include "../scalars/diffusivity.h"
#include "carried.h"

// Conduction into a cell through its low (0) or its high (1) face, over `outer_in_cells`, behind which heat meets `kind`:
// T_other is the temperature there, of the fluid, to which it is conducted as `across`, or of a body.
FN real conducted(int kind, real T_here, real T_other, real across, real diffusivity, Axis a, int n) {
  const real weight = kind == 0 ? a.inner_in_cells(n) * across : a.inner_at_wall() * (real(kind & HELD) * diffusivity);
  return weight * (T_other - T_here);
}

// Net flow out of a cell along one direction: of T carried by q through both faces, and what is conducted into it.
struct Flow {
  real carried, conducted;
};

template <class Diffusivity>
FN Flow flow(In T, In q, Index c, Axis a, int kinds, const Diffusivity& by) {
  const Index S = a.step;
  const real below = T[c - S], here = T[c], above = T[c + S];
  const real low = conducted(kinds & 3, here, below, by.between(c - S, c), by.diffusivity, a, 0);
  const real high = conducted(kinds >> 2 & 3, here, above, by.between(c, c + S), by.diffusivity, a, 1);
  return {carried(T, q, c, S, a.per_cell()), a.outer_in_cells() * (low + high)};
}

// T_new = T + dt ((1 + r/2) H - r/2 H_old), H = -div(u T) + conduction + source; H replaces H_old.
template <class Diffusivity>
FN void advance(const Range& range, In T, In u, In v, In w, InShort T_faces, InOut h_T, Out T_new, In64 dt, In64 ratio,
                const Grid& grid, real source, Diffusivity by) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const int kinds = T_faces[c];
    const Flow x = flow(T, u, c, axis(grid, 0, c.i, X), kinds, by), y = flow(T, v, c, axis(grid, 1, c.j, Y), kinds >> 4, by);
    const Flow z = flow(T, w, c, axis(grid, 2, c.k, Z), kinds >> 8, by);
    const real convection = x.carried + y.carried + z.carried, conduction = x.conducted + y.conducted + z.conducted;
    const real H = conduction - convection + source;
    const real old = h_T[c], here = T[c], next = scheme.advance(here, H, old);
    h_T[c] = H;
    T_new[c] = kinds & KEEPS ? here : next;
  });
}

TASK heat_obstructed(Range range, In T, In u, In v, In w, InShort T_faces, InOut h_T, Out T_new, In64 dt, In64 ratio,
                     Grid grid, Transport transport) {
  advance(range, T, u, v, w, T_faces, h_T, T_new, dt, ratio, grid, transport.source, Even{transport.diffusivity});
}

TASK heat_eddy_obstructed(Range range, In T, In u, In v, In w, In nu_t, InShort T_faces, InOut h_T, Out T_new, In64 dt,
                          In64 ratio, Grid grid, Transport transport, real prandtl) {
  const Stirred by{transport.diffusivity, real(0.5) / prandtl, nu_t};
  advance(range, T, u, v, w, T_faces, h_T, T_new, dt, ratio, grid, transport.source, by);
}
