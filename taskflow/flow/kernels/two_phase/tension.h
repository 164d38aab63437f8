// Surface tension on a face.
#include "../component.h"
#include "phases.h"

// sigma kappa df/dx: kappa on a face is the mean of both cells if both have one, else that of the one that has
FN real tension(const Phases&, In, None, Index, const Component&) { return 0; }
FN real tension(const Phases& phases, In f_new, In kappa, Index c, const Component& a) {
  const Index A = a.axis.step;
  const real low = kappa[c - A], high = kappa[c], sum = low + high;
  const real mean = (low != 0) & (high != 0) ? real(0.5) * sum : sum;
  return phases.surface_tension * mean * (a.axis.per_face() * (f_new[c] - f_new[c - A]));
}
