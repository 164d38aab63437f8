// Contents and layout of the shared memory: see held.h.

extern __shared__ real held_memory[];

// A tile is the cells of a thread block in a plane, and BEYOND more on each side. Deep fields have HELD_PLANES tiles: from one below
// to two above the plane of the cells, and one more if warps may be a plane apart, with two buffers of faces.
constexpr int BEYOND = 2, HELD_PLANES = 3 + BUFFERS, WIDE = (BX + 2 * BEYOND) * (BY + 2 * BEYOND);
constexpr int NARROW = (NARROWEST + 2 * BEYOND) * (BX * BY / NARROWEST + 2 * BEYOND), HELD_TILE = WIDE > NARROW ? WIDE : NARROW;

// The positions of planes from two below a cell to one above, unrolled: compilers keep no array with late indices in registers.
struct Planes {
  int below_2, below, here, above;
  INLINE int at(int z) const { return z == -2 ? below_2 : z == -1 ? below : z == 0 ? here : above; }
};
// The position of a held cell, and the stride of rows
struct HeldPlace {
  Planes deep, flat, values;
  int row;
  INLINE const real* at(int plane, int x, int y) const { return held_memory + plane + y * row + x; }
};
// A number of cells along an axis: in tiles, and in fields
struct Shift {
  int x, y, z;
  Index cells;
};
FN Shift operator*(int n, Shift a) { return {n * a.x, n * a.y, n * a.z, n * a.cells}; }
struct HeldSteps {
  Shift x, y, z;
  template <int D>
  INLINE Shift of() const { return D == 0 ? x : D == 1 ? y : z; }
};
FN HeldSteps held_steps(const Range& r) { return {{1, 0, 0, 1}, {0, 1, 0, r.y}, {0, 0, 1, r.z}}; }

// A neighbour of a held cell, in tiles and in fields
struct Place {
  HeldPlace held;
  Shift away;
  Index offset;
  INLINE operator Index() const { return offset; }
};
FN Place operator+(const Place& a, Shift b) { return {a.held, {a.away.x + b.x, a.away.y + b.y, a.away.z + b.z, 0}, a.offset + b.cells}; }
FN Place operator-(const Place& a, Shift b) { return a + -1 * b; }
template <class C>
struct HeldIn : C {
  HeldPlace held;
  INLINE operator Place() const { return {held, {}, this->offset}; }
};
template <class C>
FN Place operator+(const HeldIn<C>& c, Shift b) { return Place(c) + b; }
template <class C>
FN Place operator-(const HeldIn<C>& c, Shift b) { return Place(c) - b; }

// Fields, by their tile of a plane
struct HeldField {
  int first;
  bool deep;
  INLINE real operator[](const Place& a) const {
    const int far = a.held.deep.at(a.away.z), near = a.held.flat.at(a.away.z);
    return a.held.at(deep ? far : near, a.away.x, a.away.y)[first];
  }
};
struct HeldValues {
  template <class C>
  INLINE real operator()(const C& c, int n, int x = 0, int y = 0, int z = 0) const {
    return c.held.at(c.held.values.at(z), x, y)[n * HELD_TILE];
  }
};
struct OwnField {
  int first;
  INLINE real operator[](Index) const { return held_memory[first + threadIdx.y * blockDim.x + threadIdx.x]; }
};

// Number of present fields
template <int COUNT>
struct All {
  In of[COUNT > 0 ? COUNT : 1];
};
template <class... Q>
FN auto all(Q... q) {
  All<(int(present<Q>) + ... + 0)> some = {};
  int n = 0;
  const auto add = [&](auto field) {
    if constexpr (present<decltype(field)>) some.of[n++] = field;
  };
  (add(q), ...);
  return some;
}

// Shared memory holds tiles of deep fields, of others, of values, and the own values of threads.
template <int FIELDS, int DEEP_, int VALUES_, int OWN_>
struct Holding {
  static constexpr int DEEP = DEEP_, FLAT = FIELDS - DEEP, VALUES = VALUES_, OWN = OWN_;
  static constexpr int flat = HELD_TILE * HELD_PLANES * DEEP, valued = flat + HELD_TILE * (HELD_PLANES - 2) * FLAT;
  static constexpr int owned = valued + HELD_TILE * (HELD_PLANES - 1) * VALUES;
  static constexpr unsigned bytes = unsigned((owned + OWN * BX * BY) * sizeof(real));
  template <int N>
  INLINE static None field(None) { return {}; }
  template <int N>
  INLINE static HeldField field(In) { return {(N < DEEP ? N : N - DEEP) * HELD_TILE, N < DEEP}; }
  template <int N, class Q>
  INLINE static auto own(Q q) {
    if constexpr (N < OWN) return OwnField{owned + N * BX * BY};
    else return q;
  }
  template <class Q>
  INLINE static auto values(Q q) {
    if constexpr (VALUES > 0) return HeldValues{};
    else return q;
  }
};
