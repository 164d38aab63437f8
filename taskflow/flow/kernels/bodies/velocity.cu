// The velocity of bodies: 0, or if the pressure ignores bodies, the value that the projection makes 0.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"
#include "stages.h"

// u = 0 on closed faces, and push gains the contribution of a stage there.
TASK stop_and_push(Range range, InOut u, InOut v, InOut w, InByte solid, InOut push_x, InOut push_y, InOut push_z, In64 dt,
                   StagePart stage) {
  const real share = stage.now / real(*dt);
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    if (closed(bits, 0)) push_x[c] += share * u[c], u[c] = 0;
    if (closed(bits, 2)) push_y[c] += share * v[c], v[c] = 0;
    if (closed(bits, 4)) push_z[c] += share * w[c], w[c] = 0;
  });
}

// u = 0 on closed faces.
TASK stop(Range range, InOut u, InOut v, InOut w, InByte solid) {
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    const real u_old = u[c], v_old = v[c], w_old = w[c];
    u[c] = closed(bits, 0) ? real(0) : u_old;
    v[c] = closed(bits, 2) ? real(0) : v_old;
    w[c] = closed(bits, 4) ? real(0) : w_old;
  });
}

// u = dt grad(p) on closed faces except on walls, so that the projection with that p makes them 0.
TASK force(Range range, InOut u, InOut v, InOut w, In p, InByte solid, In64 dt, Grid grid) {
  STRIDES(range)
  const real step = real(*dt);
  for_cells(range, CELL(c) {
    const real x = step * axis(grid, 0, c.i, X).per_face(), y = step * axis(grid, 1, c.j, Y).per_face();
    const real z = step * axis(grid, 2, c.k, Z).per_face();
    const int bits = solid[c];
    const real here = p[c], u_old = u[c], v_old = v[c], w_old = w[c];
    const real u_next = x * (here - p[c - X]), v_next = y * (here - p[c - Y]), w_next = z * (here - p[c - Z]);
    u[c] = (c.i != grid.first[0]) & closed(bits, 0) ? u_next : u_old;
    v[c] = (c.j != grid.first[1]) & closed(bits, 2) ? v_next : v_old;
    w[c] = (c.k != grid.first[2]) & closed(bits, 4) ? w_next : w_old;
  });
}
