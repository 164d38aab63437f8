// The smoothed step H(x) = (1 + x + sin(pi x) / pi) / 2 for |x| < 1, 0 below and 1 above, and its derivative. The sine is a
// polynomial of elementary operations, correct to rounding: every compiler and device gives the same bits.

// sin(pi x) / pi for 0 <= x <= 1/2: Taylor's series to x^21
FN double sine(double x) {
  const double y = (3.14159265358979323846 * x) * (3.14159265358979323846 * x);
  double sum = 1;
  for (int n = 20; n > 0; n -= 2) sum = 1 - sum * y * (1.0 / (n * (n + 1)));
  return x * sum;
}

FN double smoothed_step(double x) {
  const double a = x < 0 ? -x : x;
  if (a >= 1) return x < 0 ? 0 : 1;  // in hardly any cell it is not
  const double s = sine(a > 0.5 ? 1 - a : a);
  return 0.5 * (1 + x + (x < 0 ? -s : s));
}

// H'(x) = (1 + cos(pi x)) / 2 = cos^2(pi x / 2)
FN double smoothed_delta(double x) {
  const double a = x < 0 ? -x : x;
  if (a >= 1) return 0;
  const double s = 3.14159265358979323846 * sine(0.5 * (1 - a));
  return s * s;
}
