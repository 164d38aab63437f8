// Sums with the same bits in any order (after J. Demmel, H. D. Nguyen 2013, Proc. 21st IEEE Symp. Comput. Arith., 163): each
// number is cut into multiples of three others, and sums of such multiples are exact.

constexpr double FIRST = 68719476736.0, NEXT = 1.0 / 2097152.0;  // 2^36 and 2^-21

// The value rounded to a multiple of the last place of `coarse`, which is much larger
FN double rounded(double value, double coarse) { return (value + coarse) - coarse; }

// Multiples of 2^-17 bound, of 2^-38 bound, and of 2^-59 bound, or of twice as much: their sums are exact for fewer than
// 2^31 numbers with |value| < 16 bound.
FN Sums<3> cut(double value, double bound) {
  const double coarse = FIRST * bound, fine = NEXT * coarse, finest = NEXT * fine;
  const double most = rounded(value, coarse), more = rounded(value - most, fine);
  return {{most, more, rounded((value - most) - more, finest)}};
}
