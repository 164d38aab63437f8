// How far cells that planes cut fall to these: what balances the weight of both phases there.
#define UZ 8
#include "cell.h"
#include "plane.h"

// fall = g.(x - foot), from the centre of a cell to the nearest point of its plane; infinite in cells without one, also where the
// divergence that a solver left has taken a little from a full cell: its plane is anywhere
TASK fall_to_plane(Range range, In f, Out fall, Grid grid, Phases phases) {
  STRIDES(range)
  const auto cut = CELL(c) { return is_bent(f[c]); };
  most_cells(range, everywhere(), CELL(c) { return real(INFINITE); }, cut, CELL(c) {
    if (!cut(c)) return real(INFINITE);
    const Lines a = lines(grid, c, X, Y, Z);
    const Normal m = normal(f, c, a);
    const real x = m.x * a.x.inverse, y = m.y * a.y.inverse, z = m.z * a.z.inverse, size = x * x + y * y + z * z;
    const real down = phases.gravity[0] * x + phases.gravity[1] * y + phases.gravity[2] * z;
    const real above = real(0.5) - plane_of(ordered(magnitude(m.x), magnitude(m.y), magnitude(m.z)), f[c]);
    return size > 0 ? above * (down / size) : real(INFINITE);
  }, STORE(c, value) { fall[c] = value; });
}
