// Area vectors of faces and volumes of cells: stored for vertices anywhere, or constants of uniform cells. A direction is a
// template parameter D; a face is the low one of its cell.

struct Vector {
  real x, y, z;
};
// A vector along direction D, and its square
template <int D>
struct Aligned {
  real size, square;
};

FN Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
FN Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
FN Vector operator*(real f, Vector a) { return {f * a.x, f * a.y, f * a.z}; }
FN real dot(Vector a, Vector b) { return fused(a.z, b.z, fused(a.y, b.y, a.x * b.x)); }
template <int D>
FN real dot(Aligned<D> a, Vector b) { return a.size * (D == 0 ? b.x : D == 1 ? b.y : b.z); }
FN real square(Vector a) { return dot(a, a); }
template <int D>
FN real square(Aligned<D> a) { return a.square; }

// a + f b
FN Vector plus(Vector a, real f, Vector b) { return {fused(f, b.x, a.x), fused(f, b.y, a.y), fused(f, b.z, a.z)}; }
template <int D>
FN Vector plus(Vector a, real f, Aligned<D> b) {
  real& on = D == 0 ? a.x : D == 1 ? a.y : a.z;
  on = fused(f, b.size, on);
  return a;
}

struct Steps {
  Index x, y, z;
  template <int D>
  INLINE Index of() const { return D == 0 ? x : D == 1 ? y : z; }
};

// Ten values of a cell: the area vectors of its low faces across x, y and z, and its volume
template <class Ten>
struct MetricsOf {
  Ten of;
  template <int D, class C>
  INLINE Vector face(const C& c, int x = 0, int y = 0, int z = 0) const {
    return {of(c, 3 * D, x, y, z), of(c, 3 * D + 1, x, y, z), of(c, 3 * D + 2, x, y, z)};
  }
  template <class C>
  INLINE real volume(const C& c) const { return of(c, 9); }
  template <class C>
  INLINE real inverse_volume(const C& c) const { return reciprocal(volume(c)); }
  // The volumes on both sides of the low face across D
  template <int D, class C>
  INLINE real volumes(const C& c) const { return of(c, 9, -(D == 0), -(D == 1), -(D == 2)) + of(c, 9); }
  // The four areas across E that are beside the low face across D
  template <int D, int E, class C>
  INLINE Vector beside(const C& c) const {
    const auto at = [&](int n, int e) __attribute__((always_inline)) {
      return face<E>(c, D == 0 ? n : E == 0 ? e : 0, D == 1 ? n : E == 1 ? e : 0, D == 2 ? n : E == 2 ? e : 0);
    };
    return (at(-1, 0) + at(-1, 1)) + (at(0, 0) + at(0, 1));
  }
  template <int D, class C>
  INLINE Vector mean(const C& c) const { return real(0.5) * (face<D>(c) + face<D>(c, D == 0, D == 1, D == 2)); }
};
typedef MetricsOf<InValues<10>> Stored;

// The numbers come from the host: a GPU takes them from there without a register.
template <class Numbers>
struct Uniform {
  Numbers n;
  template <int D>
  INLINE Aligned<D> face(const Cell&) const { return {n.areas[D], n.squares[D]}; }
  INLINE real volume(const Cell&) const { return n.volume; }
  INLINE real inverse_volume(const Cell&) const { return n.inverse_volume; }
  template <int D>
  INLINE Aligned<D> mean(const Cell& c) const { return face<D>(c); }
};

template <class Numbers>
FN Uniform<Numbers> geometry(None, const Numbers& n) { return {n}; }
template <class Ten, class Numbers>
FN MetricsOf<Ten> geometry(Ten metrics, const Numbers&) { return {metrics}; }
