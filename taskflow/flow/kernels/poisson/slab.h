// The planes [first, last) of a slab.
struct Slab {
  int first, last;
  INLINE Slab(const Spectrum& s, int n)
      : first(n * s.slab), last(first + s.slab < s.cells[2] ? first + s.slab : s.cells[2]) {}
  INLINE int planes() const { return last > first ? last - first : 0; }
};

FN Planes planes(const Foreign& f) { return {const_cast<real*>(f.field), f.y, f.z}; }
FN Planes planes(real* q, const Range& r) { return {q, r.y, r.z}; }
