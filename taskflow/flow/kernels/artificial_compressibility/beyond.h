// What conditions beyond sides share: the face of the side, its velocity, and the ghost temperature. `Condition` is the struct of a side.
#include "geometry.h"

// The face between a ghost cell and the cell inside, and the mean of their volumes
struct Wall {
  Vector area;
  real volume;
};
FN Vector unaligned(real size) { return {AXIS == 0 ? size : 0, AXIS == 1 ? size : 0, AXIS == 2 ? size : 0}; }
FN Wall wall(None, const Cell&, const Condition& side) { return {unaligned(side.areas[AXIS]), side.volume}; }
FN Wall wall(InValues<10> metrics, const Cell& c, const Condition& side) {
  const Stored g{metrics};
  const int in = HIGH ? -1 : 1, x = AXIS == 0 ? in : 0, y = AXIS == 1 ? in : 0, z = AXIS == 2 ? in : 0;
  const Vector area = HIGH ? g.face<AXIS>(c, 0, 0, 0) : g.face<AXIS>(c, x, y, z);
  return {area, real(0.5) * (metrics(c, 9) + metrics(c, 9, x, y, z))};
}

// The velocity of a side: one of all, or of each cell
FN Vector prescribed(None, None, None, Index, const Condition& side) { return {side.velocity[0], side.velocity[1], side.velocity[2]}; }
FN Vector prescribed(In u, In v, In w, Index c, const Condition&) { return {u[c], v[c], w[c]}; }

// Temperature, or what heat comes in: diffusivity |S| / V (ghost - inside) = flux + transfer (outside - the mean of both)
template <class Metrics>
FN void warm(None, const Metrics&, const Cell&, Index, const Condition&) {}
template <class Metrics>
FN void warm(InOut T, const Metrics& metrics, const Cell& c, Index N, const Condition& side) {
  const Wall face = wall(metrics, c, side);
  const real inside = T[c + N], conductance = side.diffusivity * root(square(face.area)) * reciprocal(face.volume);
  const real half = real(0.5) * side.transfer, coming = side.flux + side.transfer * side.outside;
  const bool insulated = (side.flux == 0) & (side.transfer == 0);
  const real open = insulated ? inside : ((conductance - half) * inside + coming) * reciprocal(conductance + half);
  T[c] = side.warm ? 2 * side.temperature - inside : open;
}
