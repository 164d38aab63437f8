// Sums of a velocity over the domain, the same bits in any order.
#define UZ 32
#include "cell.h"

constexpr double FIRST = 68719476736.0, NEXT = 1.0 / 2097152.0;  // 2^36 and 2^-21

// The value rounded to a multiple of the last place of `coarse`, which is much larger
FN double rounded(double value, double coarse) { return (value + coarse) - coarse; }

// total + rest + last = sum of q: multiples of 2^-17 speed, of 2^-38 speed, and of 2^-59 speed, or of twice as much, speed =
// rate spacing. Sums of such numbers are exact for fewer than 2^31 cells and |q| < 16 speed.
TASK total_velocity(Range range, In q, Partial total, Partial rest, Partial last, In64 rate, real spacing) {
  const double coarse = FIRST * *rate * spacing, fine = NEXT * coarse, finest = NEXT * fine;
  sum_cells(range, {total, rest, last}, CELL(c) {
    const double value = q[c], most = rounded(value, coarse), more = rounded(value - most, fine);
    return Sums<3>{{most, more, rounded((value - most) - more, finest)}};
  });
}
