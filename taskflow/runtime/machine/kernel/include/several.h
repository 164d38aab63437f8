/// # Several numbers under one name
/// PartialOf<N>, ExactPartial<N>: where `Reduce["sum", N]` and `Reduce["exact sum", N]` leave their values
/// In64Of<N>, ExactIn64<N>: these values as another task takes them: `flux[n]`
// Several numbers under one name, `Reduce["sum", n]` and `Reduce["exact sum", n]`, and as another task takes them: flux[n].
#if defined(LISTED) && defined(GPU)
template <int N>
using Partials = const Partial (&)[N];  // where the table of pieces has them: so many addresses would take all registers
#else
template <int N>
using Partials = Partial[N];
#endif
template <int N>
struct PartialOf {
  Partials<N> of;
};
template <int N>
struct ExactPartial {
  Partials<3 * N> of;  // total, rest and last of each, see exact.h
};
template <int N>
struct In64Of {
  In64 of[N];
  INLINE double operator[](int n) const { return *of[n]; }
};
template <int N>
struct ExactIn64 {
  In64 of[3 * N];
  INLINE double operator[](int n) const { return *of[3 * n] + (*of[3 * n + 1] + *of[3 * n + 2]); }
};
