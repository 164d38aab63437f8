// Momentum of two phases on the MAC grid, carried by the mass fluxes that carry the interface, seen from a face.
#define UZ 1
#define BX 64
#define BY 4
#define RESIDENT 2
#define PLANES 1
#include "cell.h"
#include "../flags.h"
#include "friction.h"
#include "transport.h"

// sigma kappa df/dx: kappa on a face is the mean of both cells if both have one, else that of the one that has
FN real tension(const Phases&, In, None, Index, const Component&) { return 0; }
FN real tension(const Phases& phases, In f_new, In kappa, Index c, const Component& a) {
  const Index A = a.axis.step;
  const real low = kappa[c - A], high = kappa[c], sum = low + high;
  const real mean = (low != 0) & (high != 0) ? real(0.5) * sum : sum;
  return phases.surface_tension * mean * (a.axis.per_face() * (f_new[c] - f_new[c - A]));
}

struct Next {
  real friction, velocity;
};

TASK momentum_of_phases(Range range, In u, In v, In w, In u_old, In v_old, In w_old, In m_x, In m_y, In m_z, In f, In f_new
                        OPTIONAL(kappa) OPTIONAL(faces), InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new,
                        In64 dt, In64 ratio, Grid grid, Phases phases) {
  STRIDES(range)
  const real step = real(*dt), half = real(0.5 * *ratio);
  const Middle middle{half};
  const Friction friction{phases, f};
  for_cells(range, CELL(c) {
    const Carried U{{u, 0, axis(grid, 0, c.i, X)}, u_old, m_x, grid.first[0], grid.last[0]};
    const Carried V{{v, 1, axis(grid, 1, c.j, Y)}, v_old, m_y, grid.first[1], grid.last[1]};
    const Carried W{{w, 2, axis(grid, 2, c.k, Z)}, w_old, m_z, grid.first[2], grid.last[2]};
    const auto flags = flags_of(faces, c);
    const auto next = [&](const Carried& a, const Carried& b, const Carried& d, real before) __attribute__((always_inline)) {
      const Index A = a.now.axis.step;
      const int number = a.now.number;
      const real here = a.now.q[c], rho = real(0.5) * (density(phases, f[c - A]) + density(phases, f[c]));
      const real rho_new = real(0.5) * (density(phases, f_new[c - A]) + density(phases, f_new[c]));
      const Leaving out = outflow(middle, c, a, b, d);
      const real stress = friction.at(c, a.now, b.now, d.now, flags >> (4 * number)), earlier = taken(half != 0, before);
      const real velocity = (rho * here - step * out.momentum) / (rho - step * out.mass)              // carried
                            + step * ((1 + half) * stress - half * earlier) / rho_new                 // friction
                            + step * tension(phases, f_new, kappa, c, a.now) / rho_new                // surface tension
                            + step * phases.gravity[number];                                          // weight
      const bool kept = (index(c, number) == a.first) | is_closed(flags, number);
      return Next{kept ? real(0) : stress, kept ? here : velocity};
    };
    const Next x = next(U, V, W, h_u[c]), y = next(V, U, W, h_v[c]), z = next(W, U, V, h_w[c]);
    loaded();  // before the first store
    h_u[c] = x.friction, h_v[c] = y.friction, h_w[c] = z.friction;
    u_new[c] = x.velocity, v_new[c] = y.velocity, w_new[c] = z.velocity;
  });
}
