// What passes faces in a sweep of a volume of fluid: of a cell that the interface cuts, the part below its plane.
#define UZ 8
#define BY 2
#include "cell.h"
#include "plane.h"

// The cell before c along an axis
template <class C>
FN Cell before(const C& c, Index N) {
  return {c.i - (AXIS == 0), c.j - (AXIS == 1), c.k - (AXIS == 2), c.offset - N};
}

// flux = the volume of phase 1 that passes the low faces of cells in a step, over that of a cell
TASK share_flux(Range range, In f, In w, Out flux, In64 dt, Grid grid) {
  FRAME(range)
  const real step = real(*dt) * axis(grid, AXIS, 0, N).per_cell();
  const int first = grid.first[AXIS], last = grid.last[AXIS];
  const auto enters = CELL(c) {
    const int n = index(c, AXIS);
    return w[c] > 0 ? n == first : n == last + 1;
  };
  const auto cut = CELL(c) { return is_cut(w[c] > 0 ? f[c - N] : f[c]) & !enters(c) & (w[c] != 0); };
  const auto whole = CELL(c) {
    const real low = f[c - N], high = f[c], donor = w[c] > 0 ? low : high;
    return step * w[c] * (enters(c) ? real(0.5) * (low + high) : donor);
  };
  most_cells(range, everywhere(), whole, cut, CELL(c) {
    if (!cut(c)) return whole(c);
    const bool forward = w[c] > 0;
    const Cell here{c.i, c.j, c.k, c.offset}, donor = forward ? before(c, N) : here;
    const Normal m = normal(f, donor, lines(grid, donor, X, Y, Z));
    if (steepness(m) == 0) return whole(c);
    const real along = AXIS == 0 ? m.x : AXIS == 1 ? m.y : m.z, r = AXIS == 0 ? m.y : m.x, s = AXIS == 2 ? m.y : m.z;
    const real moved = step * w[c];
    return moved * share_of_slab(f[donor], along, r, s, magnitude(moved), forward);
  }, STORE(c, value) { flux[c] = value; });
}
