// Square roots and reciprocals with the same bits everywhere, and without branches on a GPU in single precision: its compiler makes
// branches for what is nearly 0 or infinite, and neither loads nor arithmetic of other cells come before they are decided.

constexpr float LEAST = 0x1p-100f;

FN double root(double a) { return ROOT(a); }
FN double reciprocal(double a) { return 1 / a; }

// The root of a finite number, 0 where that is below LEAST; one over a, from LEAST to 2^100. On a GPU as its compiler finds them
// there: Newton's step from the hardware's approximation, which rounds correctly.
#ifdef GPU
FN float root(float a) {
  float close;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(close) : "f"(a));
  const float low = a * close;
  return a < LEAST ? 0.0f : __fmaf_rn(__fmaf_rn(-low, low, a), 0.5f * close, low);
}
FN float reciprocal(float a) {
  float close;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(close) : "f"(a));
  return __fmaf_rn(__fmaf_rn(-close, a, 1.0f), close, close);
}
#else
FN float root(float a) { return a < LEAST ? 0.0f : __builtin_sqrtf(a); }
FN float reciprocal(float a) { return 1 / a; }
#endif
