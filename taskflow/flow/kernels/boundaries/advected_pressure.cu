// Outflow that carries the pressure: what drives the normal velocity on the face. N leads one cell into the domain.
#define UZ 1
#include "cell.h"
#include "../metrics.h"

FN double at_most_one(double share) { return share > 1 ? 1 : share; }

// rhs = p - sign (width / 2) (q_new - q) / dt in the last cells, all on the next face inside
TASK inner_face_pressure(Range range, In p, In q_new, In q, Out rhs, In64 dt, Grid grid, Outlet outlet) {
  FRAME(range)
  const real part = real(0.5 * outlet.width * outlet.sign / *dt);
  for_cells(range, CELL(c) {
    const Axis normal = axis(grid, AXIS, index(c, AXIS), HIGH ? -N : N);
    const Index low = HIGH ? N : 0, high = HIGH ? 0 : N;  // the cells beside that face, which has the number of the latter
    const real driven = q_new[c + high] - q[c + high];
    rhs[c] = real(0.5) * normal.twice_between(p[c + low], p[c + high], HIGH ? 0 : 1) - part * driven;
  });
}

// P = (1 - dt outflow_speed / reach) (P + C (rhs[inside] - P)), C = dt outflow_speed / width
TASK advect_pressure(Range range, InOut P, In rhs, In64 dt, In64 outflow_speed, Outlet outlet) {
  FRAME(range)
  const double way = *dt * *outflow_speed;
  const real C = real(at_most_one(way / outlet.width));
  const real kept = real(way > 0 ? 1 - at_most_one(way / outlet.reach) : 0);
  for_cells(range, CELL(c) { P[c] = kept * (P[c] + C * (rhs[c + N] - P[c])); });
}

// q_new = q - sign dt P / (width / 2), P being that of the layer beyond the face
TASK accelerate_outlet(Range range, In q, In P, Out q_new, In64 dt, Outlet outlet) {
  FRAME(range)
  const real step = real(2 * *dt * outlet.sign / outlet.width);
  for_cells(range, CELL(c) { q_new[c] = q[c] - step * P[c + (HIGH ? 0 : -N)]; });
}
