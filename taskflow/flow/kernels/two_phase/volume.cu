// The volume of phase 1, kept by a shift of the level set: two steps of Newton's method. Sums have the same bits for any blocks.
#define UZ 32
#include "cell.h"
#include "../flags.h"
#include "smoothed.h"

FN double next_shift(const ExactIn64<2>& volume, const ExactIn64<1>& kept) {
  const double slope = volume[1];
  return slope > 0 ? (kept[0] - volume[0]) / slope : 0.0;
}

// What a cell has of phase 1, and of its derivative by phi: below 1 and 1 / width; a solid one has none
FN Sums<2> share(double phi, double width, bool solid) {
  const Sums<2> nothing{{0.0, 0.0}}, fluid{{smoothed_step(phi / width), smoothed_delta(phi / width) / width}};
  return solid ? nothing : fluid;
}

TASK volume_of(Range range, In phi OPTIONAL(solid), ExactPartial<2> volume, Band band) {
  exact_sum_cells(range, volume, Sums<2>{{1.0, 1.0 / band.width}},
                  CELL(c) { return share(phi[c], band.width, is_solid(solid, c)); });
}

TASK volume_of_shifted(Range range, In phi OPTIONAL(solid), ExactPartial<2> volume, ExactIn64<2> first, ExactIn64<1> kept,
                       Band band) {
  const double shift = next_shift(first, kept);
  exact_sum_cells(range, volume, Sums<2>{{1.0, 1.0 / band.width}},
                  CELL(c) { return share(phi[c] + shift, band.width, is_solid(solid, c)); });
}

// phi = phi + shift, f = H(phi / width)
TASK shift_level_set(Range range, InOut phi, Out f, ExactIn64<2> first, ExactIn64<2> second, ExactIn64<1> kept, Band band) {
  const double shift = next_shift(first, kept) + next_shift(second, kept);
  for_cells(range, CELL(c) {
    const real next = real(phi[c] + shift);
    phi[c] = next, f[c] = real(smoothed_step(double(next) / band.width));
  });
}

TASK volume_fraction(Range range, In phi, Out f, Band band) {
  for_cells(range, CELL(c) { f[c] = real(smoothed_step(double(phi[c]) / band.width)); });
}
