// The unknowns of a cell: p, u, v, w, with HEAT also T, and with SCALAR another scalar. Blocks of the matrix are of so many rows.
#ifdef SCALAR
constexpr int UNKNOWNS = 6;
#elif defined(HEAT)
constexpr int UNKNOWNS = 5;
#else
constexpr int UNKNOWNS = 4;
#endif

// One of something for each unknown, from those that a launch has
template <class Q>
struct Each {
  Q of[UNKNOWNS];
  INLINE const Q& operator[](int n) const { return of[n]; }
};
template <class Q>
FN Each<Q> each(const Q& p, const Q& u, const Q& v, const Q& w, None, None) { return {{p, u, v, w}}; }
template <class Q>
FN Each<Q> each(const Q& p, const Q& u, const Q& v, const Q& w, const Q& T, None) { return {{p, u, v, w, T}}; }
template <class Q>
FN Each<Q> each(const Q& p, const Q& u, const Q& v, const Q& w, const Q& T, const Q& s) { return {{p, u, v, w, T, s}}; }
