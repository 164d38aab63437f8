// The unit of a right-hand side whose sum of squares over all cells is `norm`: a power of two near its 2-norm, so that a
// division rounds nothing. 1 if the norm is 0, or nearly the smallest or largest number.
FN double unit_of(double norm) {
  const int exponent = int(bits_of(norm) >> 52) - 1023;  // of norm, which is not negative
  if (exponent < -1000 || exponent > 1000) return 1.0;
  return number_of((unsigned long long)(exponent / 2 + 1023) << 52);
}
