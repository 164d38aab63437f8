// A number that counts what is computed with it: it comes before a kernel text, in which every float of the arithmetic
// then is one of these. Only the operations that a field has a part in are counted, since what follows from constants
// alone is the same in all cells: fields hold NaN, which nothing loses that is computed from them. A Counted becomes a
// built-in number on request only, or `choice ? counted : 0` would have two meanings.
#include <string.h>

#include <type_traits>

extern "C" long long operations;
long long operations = 0;

struct Counted {
  double value;
  Counted() = default;
  constexpr Counted(double number) : value(number) {}
  template <class Number> constexpr explicit operator Number() const { return Number(value); }
  constexpr Counted operator-() const { return -value; }
  Counted& operator+=(Counted b);
  Counted& operator-=(Counted b);
  Counted& operator*=(Counted b);
  Counted& operator/=(Counted b);
};

template <class Number> using IfNumber = std::enable_if_t<std::is_arithmetic<Number>::value>;

// An exact match for each kind of number on the other side: the built-in operators would do as well otherwise.
#define COUNTED_OPERATOR(sign)                                                                                    \
  constexpr Counted operator sign(Counted a, Counted b) {                                                         \
    if (a.value != a.value || b.value != b.value) ++operations;                                                   \
    return a.value sign b.value;                                                                                  \
  }                                                                                                               \
  template <class N, class = IfNumber<N>> constexpr Counted operator sign(Counted a, N b) { return a sign Counted(b); } \
  template <class N, class = IfNumber<N>> constexpr Counted operator sign(N a, Counted b) { return Counted(a) sign b; } \
  inline Counted& Counted::operator sign##=(Counted b) { return *this = *this sign b; }

#define COUNTED_COMPARISON(sign)                                                                                       \
  constexpr bool operator sign(Counted a, Counted b) { return a.value sign b.value; }                                 \
  template <class N, class = IfNumber<N>> constexpr bool operator sign(Counted a, N b) { return a.value sign b; }     \
  template <class N, class = IfNumber<N>> constexpr bool operator sign(N a, Counted b) { return a sign b.value; }

COUNTED_OPERATOR(+)
COUNTED_OPERATOR(-)
COUNTED_OPERATOR(*)
COUNTED_OPERATOR(/)
COUNTED_COMPARISON(==)
COUNTED_COMPARISON(!=)
COUNTED_COMPARISON(<)
COUNTED_COMPARISON(<=)
COUNTED_COMPARISON(>)
COUNTED_COMPARISON(>=)

inline Counted counted_root(Counted a) { return __builtin_sqrt(a.value); }
inline Counted counted_abs(Counted a) { return __builtin_fabs(a.value); }
inline Counted counted_fma(Counted a, Counted b, Counted c) { return a * b + c; }

// A value that is computed more than once, and counted where it belongs to.
template <class Compute> Counted repeated(Compute compute) {
  const long long before = operations;
  const Counted value = compute();
  operations = before;
  return value;
}
#define REPEATED(value) repeated([&] { return value; })

#define double Counted
#define __builtin_sqrt counted_root
#define __builtin_fabs counted_abs
#define __builtin_fma counted_fma
