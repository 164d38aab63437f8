// Numbers with their derivative along a direction: what is written for `real` means them in this namespace, too.
namespace tangent {

struct Dual {
  ::real value, slope;
  INLINE Dual() = default;
  INLINE Dual(::real value, ::real slope = 0) : value(value), slope(slope) {}
  INLINE explicit operator ::real() const { return value; }
};
typedef Dual real;

// A slope that is known to be 0 when the text is compiled, that of a constant, costs nothing.
FN bool flat(::real slope) {
#ifdef GPU
  return false;
#else
  return __builtin_constant_p(slope) && slope == 0;
#endif
}
FN Dual operator-(Dual a) { return {-a.value, -a.slope}; }
FN Dual operator+(Dual a, Dual b) { return {a.value + b.value, flat(a.slope) ? b.slope : flat(b.slope) ? a.slope : a.slope + b.slope}; }
FN Dual operator-(Dual a, Dual b) { return {a.value - b.value, flat(a.slope) ? -b.slope : flat(b.slope) ? a.slope : a.slope - b.slope}; }
FN Dual operator*(Dual a, Dual b) {
  const ::real left = a.slope * b.value, right = a.value * b.slope;
  return {a.value * b.value, flat(a.slope) ? right : flat(b.slope) ? left : left + right};
}
FN Dual fused(Dual a, Dual b, Dual c) {
  const ::real left = flat(a.slope) ? c.slope : ::fused(a.slope, b.value, c.slope);
  return {::fused(a.value, b.value, c.value), flat(b.slope) ? left : ::fused(a.value, b.slope, left)};
}
FN Dual reciprocal(Dual a) {
  const ::real inverse = ::reciprocal(a.value);
  return {inverse, -(inverse * inverse) * a.slope};
}
// Without the square of 1 / b, which overflows where b is next to nothing
FN Dual quotient(Dual a, Dual b) {
  const ::real inverse = ::reciprocal(b.value), value = a.value * inverse;
  return {value, (a.slope - value * b.slope) * inverse};
}
FN Dual root_above(Dual a) {
  const ::real root = ::root_above(a.value);
  return {root, ::real(0.5) * a.slope * ::reciprocal(root)};
}
FN Dual magnitude(Dual a) { return a.value < 0 ? -a : a; }
FN bool operator>(Dual a, Dual b) { return a.value > b.value; }

struct Vector {
  Dual x, y, z;
};
FN Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
FN Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
FN Vector operator*(Dual f, Vector a) { return {f * a.x, f * a.y, f * a.z}; }
FN Vector plus(Vector a, Dual f, Vector b) { return {a.x + f * b.x, a.y + f * b.y, a.z + f * b.z}; }

// Areas of faces have no derivative.
FN Dual by(::real f, Dual a) { return {f * a.value, f * a.slope}; }
FN Dual dot(::Vector a, Vector b) { return by(a.x, b.x) + by(a.y, b.y) + by(a.z, b.z); }
FN Vector plus(Vector a, Dual f, ::Vector b) { return {a.x + by(b.x, f), a.y + by(b.y, f), a.z + by(b.z, f)}; }
template <int D>
FN Dual dot(Aligned<D> a, Vector b) { return by(a.size, D == 0 ? b.x : D == 1 ? b.y : b.z); }
template <int D>
FN Vector plus(Vector a, Dual f, Aligned<D> b) {
  Dual& on = D == 0 ? a.x : D == 1 ? a.y : a.z;
  on = on + by(b.size, f);
  return a;
}

// Faces that move, as in moving.h
FN Dual relative(Dual theta, None) { return theta; }
FN Dual relative(Dual theta, Dual swept) { return theta - swept; }
FN Dual with_wall(Dual swept) { return swept; }
FN Dual middle_of(Dual theta, None) { return theta; }
FN Dual middle_of(Dual theta, Dual swept) { return theta - by(::real(0.5), swept); }

// A field and the direction along which it changes
struct In {
  ::In value, slope;
  INLINE Dual operator[](Index at) const { return {value[at], slope[at]}; }
};

}  // namespace tangent
