/// # Roots and quotients
/// root(a): square root of a finite number, 0 below 2^-100 (2^-900 in double)
/// root_above(a): the same of a number that is not below it
/// reciprocal(a): 1 / a, for a from 2^-100 to 2^100 (2^900 in double)
/// quotient(a, b): a times reciprocal(b)
/// fused(a, b, c): a b + c, rounded once
/// LEAST: the least number of which `root` is not 0
// Square roots, reciprocals and fused multiply-adds, bitwise identical everywhere and without branches on a GPU. Its compiler
// branches on values near 0 or infinity, which delays loads and arithmetic of other cells.

constexpr float LEAST = 0x1p-100f;
constexpr double LEAST_64 = 0x1p-900;

// The root of a finite number >= LEAST; 1 / a, from LEAST to 2^100 (2^900). On a GPU as its compiler does there: Newton's
// iteration from the hardware's approximation, correctly rounded. `fused` is a b + c, rounded once: one instruction on all GPUs,
// and on CPUs that have it (x86-64 since 2013), otherwise a slow function of the C library.
#ifdef GPU
FN float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
FN double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
FN float root_above(float a) {
  float close;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(close) : "f"(a));
  const float low = a * close;
  return __fmaf_rn(__fmaf_rn(-low, low, a), 0.5f * close, low);
}
FN float reciprocal(float a) {
  float close;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(close) : "f"(a));
  return __fmaf_rn(__fmaf_rn(-close, a, 1.0f), close, close);
}
FN double root_above(double a) {
  double close;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(close) : "d"(a));
  const double rest = __fma_rn(a, -(close * close), 1.0);
  close = __fma_rn(__fma_rn(rest, 0.375, 0.5), close * rest, close);
  const double low = a * close;
  return __fma_rn(__fma_rn(low, -low, a), 0.5 * close, low);
}
FN double reciprocal(double a) {
  double close;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(close) : "d"(a));
  const double rest = __fma_rn(-a, close, 1.0);
  close = __fma_rn(close, __fma_rn(rest, rest, rest), close);
  return __fma_rn(close, __fma_rn(-a, close, 1.0), close);
}
#else
FN float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FN double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
FN float root_above(float a) { return __builtin_sqrtf(a); }
FN float reciprocal(float a) { return 1 / a; }
FN double root_above(double a) { return __builtin_sqrt(a); }
FN double reciprocal(double a) { return 1 / a; }
#endif

template <class Real>
FN Real quotient(Real a, Real b) { return a * reciprocal(b); }

// The root of any finite number; 0 below LEAST
FN float root(float a) { return a < LEAST ? 0.0f : root_above(a); }
FN double root(double a) { return a < LEAST_64 ? 0.0 : root_above(a); }
