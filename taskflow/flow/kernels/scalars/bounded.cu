// Transport by an incompressible flow that keeps q within its bounds: upwind-biased values on faces, with Koren's limiter. q
// is in the centres of cells, velocities are on faces.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "diffusivity.h"
#include "limited.h"

// Flux of q into a cell along d; the kinds describe the other sides of its low and high face
template <class C, class Diffusivity>
FN real inflow(In q, const C& c, int n, const Direction& d, const Grid& grid, const Diffusivity& by, int low_kind,
               int high_kind) {
  const Axis a = axis(grid, d.number, n, d.step);
  const real low = passing<C::amid>(q, c, n, d, low_kind ? a.per_cell() : a.per_face(), by, low_kind);
  const real high = passing<C::amid>(q, c + d.step, n + 1, d, high_kind ? a.per_cell() : a.per_face(1), by, high_kind);
  return a.per_cell() * (low - high);
}

FN Direction direction(const Grid& g, int number, Index step, In before, In after) {
  return {number, step, g.first[number], g.last[number], before, after};
}

// -div(u q) + div((diffusivity + nu_t / prandtl) grad q), u being the mean of the velocities before and after a stage
template <class C, class Diffusivity, class Kinds>
FN real transported(In q, const C& c, const Direction& x, const Direction& y, const Direction& z, const Grid& grid,
                    const Diffusivity& by, Kinds kinds) {
  return inflow(q, c, c.i, x, grid, by, behind(kinds, 0), behind(kinds, 1)) +
         inflow(q, c, c.j, y, grid, by, behind(kinds, 2), behind(kinds, 3)) +
         inflow(q, c, c.k, z, grid, by, behind(kinds, 4), behind(kinds, 5));
}

TASK bounded_euler(Range range, In q, In u, In v, In w, In u_new, In v_new, In w_new OPTIONAL(nu_t) OPTIONAL(q_faces),
                   Out q_new, In64 dt, Grid grid, Transport transport OPTIONAL(prandtl)) {
  STRIDES(range)
  const auto by = diffusivity_of(transport.diffusivity, nu_t, prandtl);
  const Direction x = direction(grid, 0, X, u, u_new), y = direction(grid, 1, Y, v, v_new), z = direction(grid, 2, Z, w, w_new);
  const real step = real(*dt);
  split_rows(range, clear_of_boundaries(grid), CELL(c) {
    const auto kinds = flags_of(q_faces, c);
    const real here = q[c], H = transported(q, c, x, y, z, grid, by, kinds) + transport.source;
    const real next = here + step * H;
    q_new[c] = is_kept(kinds) ? here : next;
  });
}

TASK bounded_heun(Range range, InOut q, In q_euler, In u, In v, In w, In u_new, In v_new, In w_new OPTIONAL(nu_t)
                  OPTIONAL(q_faces), In64 dt, Grid grid, Transport transport OPTIONAL(prandtl)) {
  STRIDES(range)
  const auto by = diffusivity_of(transport.diffusivity, nu_t, prandtl);
  const Direction x = direction(grid, 0, X, u, u_new), y = direction(grid, 1, Y, v, v_new), z = direction(grid, 2, Z, w, w_new);
  const real step = real(*dt);
  split_rows(range, clear_of_boundaries(grid), CELL(c) {
    const auto kinds = flags_of(q_faces, c);
    const real here = q[c], euler = q_euler[c], H = transported(q_euler, c, x, y, z, grid, by, kinds) + transport.source;
    const real next = real(0.5) * (here + (euler + step * H));
    q[c] = is_kept(kinds) ? here : next;
  });
}
