// Buoyancy of a Boussinesq fluid on the low face of cell c across the axis of a component.
#include "component.h"

// -expansion (T - reference) gravity, T being the mean of the cells on both sides of the face: half of the sum over them
FN None lift(None, None, Index, const Component&) { return {}; }
FN real lift(const Buoyancy& buoyancy, In T, Index c, const Component& a) {
  const real before = T[c - a.axis.step], behind = T[c] - 2 * buoyancy.reference;
  return real(-0.5) * buoyancy.expansion * (before + behind) * buoyancy.gravity[a.number];
}
