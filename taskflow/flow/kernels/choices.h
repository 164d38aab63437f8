// Choices between conditions. On a CPU they are choices between numbers: others would keep a loop from being a vector loop, or
// make it one over bytes, whose remainder is long.

// a where `take`, else b
FN bool either(bool take, bool a, bool b) {
#ifdef GPU
  return (take & a) | (!take & b);
#else
  const real first = a ? real(1) : real(0), second = b ? real(1) : real(0);
  return (take ? first : second) > 0;
#endif
}

// Whether n is a where `take`, else b
FN bool is_either(bool take, int n, int a, int b) {
#ifdef GPU
  return n == (take ? a : b);
#else
  return either(take, n == a, n == b);
#endif
}
