// Ghost values beyond a side: of the layer next to it, from the two cells inside.
#include "cell.h"
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

TASK beyond_velocity(Range range, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(metrics) OPTIONAL(u_s) OPTIONAL(v_s)
                     OPTIONAL(w_s), Condition side) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Vector speed = prescribed(u_s, v_s, w_s, c, side);
    p[c] = 2 * p[c + N] - p[c + 2 * N];
    u[c] = 2 * speed.x - u[c + N], v[c] = 2 * speed.y - v[c + N], w[c] = 2 * speed.z - w[c + N];
    warm(T, metrics, c, N, side);
  });
}

// The velocity inside, mirrored in the plane of a side
template <class Metrics>
FN Vector mirrored(In u, In v, In w, const Metrics& metrics, const Cell& c, Index N, const Condition& side) {
  const Vector area = wall(metrics, c, side).area, inside{u[c + N], v[c + N], w[c + N]};
  return plus(inside, -2 * dot(area, inside) * reciprocal(square(area)), area);
}

TASK beyond_slip(Range range, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(metrics), Condition side) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Vector velocity = mirrored(u, v, w, metrics, c, N, side);
    p[c] = 2 * p[c + N] - p[c + 2 * N];
    u[c] = velocity.x, v[c] = velocity.y, w[c] = velocity.z;
    warm(T, metrics, c, N, side);
  });
}

TASK beyond_symmetry(Range range, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(metrics), Condition side) {
  FRAME(range)
  for_cells(range, CELL(c) {
    const Vector velocity = mirrored(u, v, w, metrics, c, N, side);
    p[c] = p[c + N], u[c] = velocity.x, v[c] = velocity.y, w[c] = velocity.z;
    warm(T, metrics, c, N, side);
  });
}

TASK beyond_pressure(Range range, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(metrics), Condition side) {
  FRAME(range)
  for_cells(range, CELL(c) {
    p[c] = 2 * side.pressure - p[c + N], u[c] = u[c + N], v[c] = v[c + N], w[c] = w[c + N];
    warm(T, metrics, c, N, side);
  });
}

TASK beyond_scalar(Range range, InOut T OPTIONAL(metrics), Condition side) {
  FRAME(range)
  for_cells(range, CELL(c) { warm(T, metrics, c, N, side); });
}

FN void same(None, Index, const Condition&) {}
FN void same(Out T, Index c, const Condition& side) { T[c] = side.temperature; }

TASK far_away(Range range, Out p, Out u, Out v, Out w OPTIONAL(T_far), Condition side) {
  for_cells(range, CELL(c) {
    p[c] = side.pressure, u[c] = side.velocity[0], v[c] = side.velocity[1], w[c] = side.velocity[2];
    same(T_far, c, side);
  });
}
