// From a level of multigrid to the next finer one, whose cells fill the same domain: `ratio` coarse cells to a fine one, per
// direction.
#define UZ 8
#define BY 2
#include "cell.h"
#include "faces.h"

FN int floored(real x) { return int(x + 1) - 1; }  // for x >= -1

// Along one direction: the two coarse cells between whose centres that of a fine one lies, and their weights. Beyond a face
// of the domain stands the last cell inside, mirrored.
struct Between {
  int low, high;
  real low_weight, high_weight;
};

FN Between between(int fine, real ratio, const Mesh& m, int axis) {
  const real x = (fine + real(0.5)) * ratio - real(0.5);
  const bool halved = ratio == real(0.5);  // then the same without a conversion
  const int low = halved ? ((fine + 1) >> 1) - 1 : floored(x), high = low + 1;
  const real part = halved ? (fine & 1 ? real(0.25) : real(0.75)) : x - low;
  const bool before = low < m.first[axis], behind = m.last[axis] < high;
  return {before ? m.first[axis] : low, behind ? m.last[axis] : high, (1 - part) * (before ? m.low[axis] : real(1)),
          part * (behind ? m.high[axis] : real(1))};
}

FN Between along_z(Cell c, real ratio, const Mesh& m) { return between(c.k, ratio, m, 2); }

// In an inner cell of a pair: the compiler sees which coarse cells its neighbours share
FN Between along_z(Inner c, real, const Mesh&) {
  const int low = c.half + c.odd - 1;
  const real part = c.odd ? real(0.25) : real(0.75);
  return {low, low + 1, 1 - part, part};
}

FN real in_plane(const Foreign& q, const Between& x, const Between& y, int k) {
  return y.low_weight * (x.low_weight * at(q, x.low, y.low, k) + x.high_weight * at(q, x.high, y.low, k)) +
         y.high_weight * (x.low_weight * at(q, x.low, y.high, k) + x.high_weight * at(q, x.high, y.high, k));
}

// Fine cells that lie two by two in coarse ones, and do not see beyond faces across y and z
FN Interior paired(const Mesh& m) {
  Interior in = {{m.first[1], m.first[2]}, {m.last[1], m.last[2]}, true};
  for (int n = 0; n < 2; ++n) {
    if (in.low[n] == 0) in.low[n] = 1;
    if (in.high[n] < m.cells[n + 1]) in.high[n] *= 2;
  }
  return in;
}

FN void corrected(const Range& range, const Interior& inside, InOut p, Foreign coarse, real x_ratio, real y_ratio,
                  real z_ratio, const Mesh& mesh) {
  change_cells(range, inside, CELL(c) {
    const Between x = between(c.i, x_ratio, mesh, 0), y = between(c.j, y_ratio, mesh, 1), z = along_z(c, z_ratio, mesh);
    return p[c] + (z.low_weight * in_plane(coarse, x, y, z.low) + z.high_weight * in_plane(coarse, x, y, z.high));
  }, STORE(c, value) { p[c] = value; }, In(p));
}

// p = p + the coarse correction, interpolated linearly along each direction
TASK correct_by_coarse(Range range, InOut p, Foreign coarse, Mesh mesh, Transfer transfer) {
  const real x = transfer.ratio[0], y = transfer.ratio[1], z = transfer.ratio[2], half = real(0.5);
  if (x == half && y == half && z == half) {
    corrected(range, paired(mesh), p, coarse, half, half, half, mesh);
  } else {
    corrected(range, nowhere(), p, coarse, x, y, z, mesh);
  }
}

// The resistance of a way from the centre of a fine cell to that of a coarse one, over / under: its length over b, `near` on
// the first face that it crosses and `far` on the second. A closed face is as one with very little b.
struct Way {
  real over, under;
};

FN Way way(real length, real near, real far) {
  const real first = length > 1 ? real(1) : length, second = length - first;
  return {first * far + second * near, near * far};
}

// `between` where b changes: p falls along both ways as a flux through all of it has it fall. b is at the low face of the
// fine cell, b[step] at its high one.
FN Between between(int fine, real ratio, const Mesh& m, int axis, const real* b, Index step) {
  const Between plain = between(fine, ratio, m, axis);
  if (plain.low + 1 != plain.high) return plain;
  const real to_low = plain.high_weight / ratio, to_high = plain.low_weight / ratio, below = b[0], above = b[step];
  const real before = to_low > 1 ? b[-step] : below, behind = to_high > 1 ? b[2 * step] : above;
  const real little = real(1e-6) * ((below + above) + (before + behind));
  const Way low = way(to_low, below + little, before + little), high = way(to_high, above + little, behind + little);
  const real down = low.over * high.under, total = down + high.over * low.under;
  const real part = total > 0 ? down / total : plain.high_weight;
  return {plain.low, plain.high, 1 - part, part};
}

// p = p + the coarse correction where p is sought on the fine level, interpolated along each direction as b lets it change
TASK correct_by_coarse_variable(Range range, InOut p, Foreign coarse, Foreign b_x, Foreign b_y, Foreign b_z, Mesh mesh, Mesh fine,
                                Transfer transfer) {
  const Faces b{fine, b_x, b_y, b_z};
  for_cells(range, CELL(c) {
    const Index Y = b.x.y, Z = b.x.z, f = c.i + c.j * Y + c.k * Z;
    const Between x = between(c.i, transfer.ratio[0], mesh, 0, b.x.field + f, 1);
    const Between y = between(c.j, transfer.ratio[1], mesh, 1, b.y.field + f, Y);
    const Between z = between(c.k, transfer.ratio[2], mesh, 2, b.z.field + f, Z);
    const real correction = z.low_weight * in_plane(coarse, x, y, z.low) + z.high_weight * in_plane(coarse, x, y, z.high);
    p[c] += sought(c.i, c.j, c.k, b) ? correction : real(0);
  });
}
