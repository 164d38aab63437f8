// Fields in a precision of their own, Real_q of a field q: `Read.any`, `Write.any * 4`, `ReadWrite.private * 16`. Whatever that
// is, a text reads numbers that are `real`, and what it writes is rounded.

// A number in memory, which may change
template <class Number>
struct Held {
  Number* at;
  INLINE operator real() const { return real(*at); }
  INLINE const Held& operator=(real value) const { return *at = Number(value), *this; }
  INLINE const Held& operator=(const Held& other) const { return *this = real(other); }
  INLINE const Held& operator+=(real value) const { return *this = real(*at) + value; }
  INLINE const Held& operator-=(real value) const { return *this = real(*at) - value; }
  INLINE const Held& operator*=(real value) const { return *this = real(*at) * value; }
  INLINE const Held& operator/=(real value) const { return *this = real(*at) / value; }
};
template <class Number>
FN real held(const Number& number) {
  return real(number);
}
template <class Number>
FN Held<Number> held(Number& number) {
  return {&number};
}

// Four values as they are in memory
template <class Number>
struct alignas(16) FourOf {
  Number of[4];
  INLINE real operator[](int n) const { return real(of[n]); }
};

// One value per cell: `q[c]`
template <class Number>
struct StoredOf {
  Number* __restrict__ field;
  INLINE auto operator[](Index offset) const { return held(field[offset]); }
};
// N values per cell: `q(c, n)`, `q(c, n, 0, 0, 1)` in the cell above
template <int N, class Number>
struct StoredValuesOf : ValuesOf<N, Number> {
  INLINE auto operator()(const Cell& c, int n, int x = 0, int y = 0, int z = 0) const {
    return held(ValuesOf<N, Number>::operator()(c, n, x, y, z));
  }
};
// Asks for a piece of memory of so many bytes, no more than a line of a GPU's cache.
FN void fetch(const void* at, [[maybe_unused]] int bytes) {
#ifdef GPU
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#else
  for (int n = 0; n < bytes; n += 64) __builtin_prefetch(static_cast<const char*>(at) + n);
#endif
}
// A private field: the N values of a cell lie behind each other. `q(c, n)` is value n of a cell, `q(c)` the only one.
// `q.four(c, n)` reads four of them at once, where N and n are multiples of 4, and `q.store_four(c, n, four)` writes them: on a GPU
// these are one or two loads or stores. `q.place(c, n)` is where they lie, `fetch` of it asks a GPU to bring that line of memory near.
template <int N, class Number>
struct PrivateOf {
  Number* __restrict__ field;
  Index y, z;
  INLINE auto operator()(const Cell& c, int n = 0) const { return held(field[at(c, n)]); }
  INLINE auto four(const Cell& c, int n) const { return four(place(c, n)); }
  INLINE static auto four(const Number* from) {
    static_assert(FOURS, "fours are of floats or doubles, of which there are a multiple of 4");
#ifdef GPU
    return *reinterpret_cast<const Four*>(from);
#else
    return Four{{from[0], from[1], from[2], from[3]}};
#endif
  }
  INLINE void store_four(const Cell& c, int n, const real (&values)[4]) const {
    static_assert(FOURS, "fours are of floats or doubles, of which there are a multiple of 4");
    const Four four = {{Plain(values[0]), Plain(values[1]), Plain(values[2]), Plain(values[3])}};
#ifdef GPU
    *reinterpret_cast<Four*>(field + at(c, n)) = four;
#else
    for (int m = 0; m < 4; ++m) field[at(c, n) + m] = four.of[m];
#endif
  }

  INLINE Number* place(const Cell& c, int n) const { return field + at(c, n); }
  static constexpr int VALUES = N;

private:
  using Plain = decltype(Number() + Number());
  using Four = FourOf<Plain>;
  static constexpr bool FOURS = N % 4 == 0 && sizeof(Number) >= 4;
  INLINE Index at(const Cell& c, int n) const { return N * (c.i + c.j * y + c.k * z) + n; }
};

template <class Number>
using InOf = StoredOf<const Number>;
template <class Number>
using OutOf = StoredOf<Number>;
template <class Number>
using InOutOf = StoredOf<Number>;
template <int N, class Number>
using InValuesOf = StoredValuesOf<N, const Number>;
template <int N, class Number>
using OutValuesOf = StoredValuesOf<N, Number>;
template <int N, class Number>
using InOutValuesOf = StoredValuesOf<N, Number>;
template <int N, class Number>
using InPrivate = PrivateOf<N, const Number>;
template <int N, class Number>
using OutPrivate = PrivateOf<N, Number>;
template <int N, class Number>
using InOutPrivate = PrivateOf<N, Number>;
