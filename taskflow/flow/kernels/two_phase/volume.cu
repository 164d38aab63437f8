// The volume of phase 1, kept by a shift of the level set: from the volumes and their slopes at two shifts, nought and that of
// a step of Newton's method. Sums have the same bits for any blocks.
#define UZ 32
#include "cell.h"
#include "../flags.h"
#include "smoothed.h"

// A step of Newton's method, and by how much it may shift
FN double newton(const ExactIn64<2>& volume, const ExactIn64<1>& kept) {
  const double slope = volume[1];
  return slope > 0 ? (kept[0] - volume[0]) / slope : 0.0;
}
FN double next_shift(const ExactIn64<2>& volume, const ExactIn64<1>& kept, double most) {
  const double shift = newton(volume, kept);
  return shift > most ? most : shift < -most ? -most : shift;
}

// The shift as a cubic of the volume that has both values and slopes, at the volume that is kept (inverse interpolation after
// Hermite): what it lacks is of the sixth power of the first step, where a second one of Newton's leaves the fourth. That one
// alone where the cubic would change more than it.
FN double kept_shift(const ExactIn64<2>& first, const ExactIn64<2>& second, const ExactIn64<1>& kept, double most) {
  const double once = next_shift(first, kept, most), twice = next_shift(second, kept, most);
  const double rest = kept[0] - second[0], moved = second[0] - first[0];
  if (!(second[1] > 0) || moved == 0) return once + twice;
  const double chord = once / moved, before = (chord - 1 / first[1]) / moved, behind = (1 / second[1] - chord) / moved;
  const double more = rest * rest * (behind + (kept[0] - first[0]) * ((behind - before) / moved));
  return once + twice + (more * more < twice * twice ? more : 0.0);
}

// What a cell has of phase 1, and of its derivative by phi: below 1 and 1 / width; a solid one has none. Hardly any cell needs a
// quotient, and that of 0 takes a GPU a long way.
FN Sums<2> share(double phi, double width, bool solid) {
  if (solid | (phi <= -width)) return {{0.0, 0.0}};
  if (phi >= width) return {{1.0, 0.0}};
  return {{smoothed_step(phi / width), smoothed_delta(phi / width) / width}};
}

TASK volume_of(Range range, In phi OPTIONAL(solid), ExactPartial<2> volume, Band band) {
  exact_sum_cells(range, volume, Sums<2>{{1.0, 1.0 / band.width}},
                  CELL(c) { return share(phi[c], band.width, is_solid(solid, c)); });
}

TASK volume_of_shifted(Range range, In phi OPTIONAL(solid), ExactPartial<2> volume, ExactIn64<2> first, ExactIn64<1> kept,
                       Band band, real most) {
  const double shift = next_shift(first, kept, most);
  exact_sum_cells(range, volume, Sums<2>{{1.0, 1.0 / band.width}},
                  CELL(c) { return share(phi[c] + shift, band.width, is_solid(solid, c)); });
}

// phi = phi + shift, f = H(phi / width)
TASK shift_level_set(Range range, InOut phi, Out f, ExactIn64<2> first, ExactIn64<2> second, ExactIn64<1> kept,
                     Band band, real most) {
  const double shift = kept_shift(first, second, kept, most);
  for_cells(range, CELL(c) {
    const real next = real(phi[c] + shift);
    phi[c] = next, f[c] = real(smoothed_step(double(next) / band.width));
  });
}

TASK volume_fraction(Range range, In phi, Out f, Band band) {
  for_cells(range, CELL(c) { f[c] = real(smoothed_step(double(phi[c]) / band.width)); });
}

// volume = kept or, if the shift was too large, or nothing was left to be shifted, the sum of f: a cell adds its part of it
TASK settle_volume(Range range, In f OPTIONAL(solid), ExactPartial<1> volume, ExactIn64<2> first, ExactIn64<2> second,
                   ExactIn64<1> kept, Grid grid, real most) {
  const double once = newton(first, kept), twice = newton(second, kept), before = kept[0] / (double(grid.cells[0]) * grid.cells[1] * grid.cells[2]);
  const bool met = once <= most && once >= -most && twice <= most && twice >= -most && first[1] > 0;
  exact_sum_cells(range, volume, Sums<1>{{1.0}}, CELL(c) {
    return Sums<1>{{met ? before : is_solid(solid, c) ? 0.0 : double(f[c])}};
  });
}
