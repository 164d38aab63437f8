// Ghost values beyond a side: of the layer next to it, from the two cells inside.
#include "cell.h"
#include "beyond.h"

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
