// Functions of numbers under their usual names, which a GPU's compiler has. Mixed precisions return double, as there.
/// # Functions of numbers
/// sqrt(a): square root, rounded correctly: the same bits on CPU and GPU
/// abs(a): absolute value of a real number or an integer
/// min(a, b), max(a, b): the smaller, the larger. The result for a NaN, and the sign of the zero from +0 and -0, are unspecified
#ifndef GPU
FN float sqrt(float a) { return __builtin_sqrtf(a); }
FN double sqrt(double a) { return __builtin_sqrt(a); }
FN float abs(float a) { return __builtin_fabsf(a); }
FN double abs(double a) { return __builtin_fabs(a); }
FN int abs(int a) { return a < 0 ? -a : a; }
FN Index abs(Index a) { return a < 0 ? -a : a; }
#define SMALLER_AND_LARGER(Result, A, B)                                 \
  FN Result min(A a, B b) { return Result(b) < Result(a) ? Result(b) : Result(a); } \
  FN Result max(A a, B b) { return Result(a) < Result(b) ? Result(b) : Result(a); }
SMALLER_AND_LARGER(float, float, float)
SMALLER_AND_LARGER(double, double, double)
SMALLER_AND_LARGER(double, float, double)
SMALLER_AND_LARGER(double, double, float)
SMALLER_AND_LARGER(int, int, int)
SMALLER_AND_LARGER(Index, Index, Index)
#undef SMALLER_AND_LARGER
#endif
