// Surface tension on a face: sigma kappa df/dx, with the same difference as for the pressure.
#include "../component.h"
#include "phases.h"

FN real tension(const Phases& phases, real kappa, In f_new, Index c, const Component& a) {
  return phases.surface_tension * kappa * (a.axis.per_face() * (f_new[c] - f_new[c - a.axis.step]));
}

// kappa is the mean of both cells if both have one, else that of the one that has
FN real tension(const Phases&, In, None, Index, const Component&) { return 0; }
FN real tension(const Phases& phases, In f_new, In kappa, Index c, const Component& a) {
  const real low = kappa[c - a.axis.step], high = kappa[c], sum = low + high;
  return tension(phases, (low != 0) & (high != 0) ? real(0.5) * sum : sum, f_new, c, a);
}

// The same between planes: the mean has weights f (1 - f), so that a cell that the interface only touches does not change it
FN real tension_of_planes(const Phases&, In, None, Index, const Component&) { return 0; }
FN real tension_of_planes(const Phases& phases, In f_new, In kappa, Index c, const Component& a) {
  const Index low = c - a.axis.step;
  const auto weight = [&](Index n) { return kappa[n] != 0 ? f_new[n] * (1 - f_new[n]) : real(0); };
  const real w_low = weight(low), w_high = weight(c), all = w_low + w_high;
  return tension(phases, all > 0 ? (w_low * kappa[low] + w_high * kappa[c]) / all : real(0), f_new, c, a);
}
