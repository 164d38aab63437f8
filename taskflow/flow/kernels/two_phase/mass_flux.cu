// The mass that passes the low faces of cells per area and time: what carries momentum is what carries the interface.
#include "cell.h"
#include "carried.h"
#include "phases.h"

FN real through(In f, In q, In q_old, const Cell& c, int number, Index step, real lead, const Grid& g, const Phases& p) {
  const real speed = ahead(q, q_old, c, lead);
  const bool forward = speed > 0;
  const Row3 row = across_face(f, c, step, forward);
  return speed * density(p, carried_on_face(row, forward, index(c, number), g.first[number], g.last[number]));
}

TASK mass_flux(Range range, In f, In u, In v, In w, In u_old, In v_old, In w_old, Out m_x, Out m_y, Out m_z, In64 ratio,
               Grid grid, Phases phases) {
  STRIDES(range)
  const real lead = real(0.1 * *ratio);
  for_cells(range, CELL(c) {
    const real x = through(f, u, u_old, c, 0, X, lead, grid, phases), y = through(f, v, v_old, c, 1, Y, lead, grid, phases);
    const real z = through(f, w, w_old, c, 2, Z, lead, grid, phases);
    m_x[c] = x, m_y[c] = y, m_z[c] = z;
  });
}
