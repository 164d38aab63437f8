// An outer iteration: what is to be solved, how far its solution may go, and where it leads.
#include "cell.h"
#include "../geometry.h"

TASK right_side(Range range, In p_q, In u_q, In v_q, In w_q, Out p_r, Out u_r, Out v_r, Out w_r OPTIONAL(metrics), Numbers numbers) {
  const auto g = geometry(metrics, numbers);
  for_cells(range, CELL(c) {
    const real volume = -g.volume(c);
    p_r[c] = volume * p_q[c], u_r[c] = volume * u_q[c], v_r[c] = volume * v_q[c], w_r[c] = volume * w_q[c];
  });
}

TASK less(Range range, InOut p_q, InOut u_q, InOut v_q, InOut w_q, In p_x, In u_x, In v_x, In w_x) {
  for_cells(range, CELL(c) { p_q[c] -= p_x[c], u_q[c] -= u_x[c], v_q[c] -= v_x[c], w_q[c] -= w_x[c]; });
}

TASK add(Range range, InOut p_q, InOut u_q, InOut v_q, InOut w_q, InOf<Real_p_x> p_x, InOf<Real_u_x> u_x, InOf<Real_v_x> v_x, InOf<Real_w_x> w_x) {
  for_cells(range, CELL(c) { p_q[c] += p_x[c], u_q[c] += u_x[c], v_q[c] += v_x[c], w_q[c] += w_x[c]; });
}

TASK same(Range range, Out p_q, Out u_q, Out v_q, Out w_q, InOf<Real_p_x> p_x, InOf<Real_u_x> u_x, InOf<Real_v_x> v_x, InOf<Real_w_x> w_x) {
  for_cells(range, CELL(c) { p_q[c] = p_x[c], u_q[c] = u_x[c], v_q[c] = v_x[c], w_q[c] = w_x[c]; });
}

TASK damped(Range range, InOut p_rest, InOut u_rest, InOut v_rest, InOut w_rest, InOut p_q, InOut u_q, InOut v_q, InOut w_q, In64 damping) {
  const real by = real(*damping);
  for_cells(range, CELL(c) {
    p_rest[c] = p_q[c] = p_rest[c] - by * p_q[c], u_rest[c] = u_q[c] = u_rest[c] - by * u_q[c];
    v_rest[c] = v_q[c] = v_rest[c] - by * v_q[c], w_rest[c] = w_q[c] = w_rest[c] - by * w_q[c];
  });
}

// The square of the largest change of a cell's velocity over what may change at once: its own size or `speed`
TASK largest_change(Range range, In u, In v, In w, In u_x, In v_x, In w_x, Partial most, real speed) {
  reduce_cells(range, most, MAX, CELL(c) {
    const double size = double(u[c]) * u[c] + double(v[c]) * v[c] + double(w[c]) * w[c], least = double(speed) * speed;
    const double change = double(u_x[c]) * u_x[c] + double(v_x[c]) * v_x[c] + double(w_x[c]) * w_x[c];
    return change / (size > least ? size : least);
  });
}

TASK moved(Range range, In p_q, In u_q, In v_q, In w_q, In p_x, In u_x, In v_x, In w_x, Out p_new, Out u_new, Out v_new, Out w_new, In64 share) {
  const real by = real(*share);
  const bool some = by != 0;
  for_cells(range, CELL(c) {
    p_new[c] = p_q[c] + taken(some, by * p_x[c]), u_new[c] = u_q[c] + taken(some, by * u_x[c]);
    v_new[c] = v_q[c] + taken(some, by * v_x[c]), w_new[c] = w_q[c] + taken(some, by * w_x[c]);
  });
}
