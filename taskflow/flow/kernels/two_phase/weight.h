// The weight of two phases on a face: rho g = grad(rho g.x) - (g.x) grad(rho), with x in the last term the place of the interface.
// In differences between both cells that is rho g with the plain mean of densities and, where f changes, the jump below. Where g.x is
// the same everywhere on the interface, a pressure balances it to rounding.
#include "../component.h"
#include "phases.h"

// (rho_1 - rho_2) g.(x - place) df/dx, with `fall` = g.(x - place) in the centres of cells, infinite in those without a place: the
// mean of both cells or, if one has none, what the other one says of the face
FN real weight_jump(const Phases&, In, None, Index, const Component&) { return 0; }
FN real weight_jump(const Phases& phases, In f_new, In fall, Index c, const Component& a) {
  const Index A = a.axis.step;
  const real change = f_new[c] - f_new[c - A], half = real(0.5) * phases.gravity[a.number] / a.axis.per_face();
  const real low = fall[c - A] + half, high = fall[c] - half, none = real(INFINITE);
  const real mean = low < none ? (high < none ? real(0.5) * (low + high) : low) : (high < none ? high : real(0));
  return change != 0 ? (phases.density_1 - phases.density_2) * mean * (a.axis.per_face() * change) : real(0);
}
