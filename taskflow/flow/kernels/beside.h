// The neighbours of a cell that are in a body
struct Beside {
  int bits;
  INLINE real seen(int n, real neighbour, real own) const { return closed(bits, n) ? -own : neighbour; }
  INLINE real per_two_cells(Axis a, int axis) const {
    return a.per_two_cells(closed(bits, 2 * axis), closed(bits, 2 * axis + 1));
  }
  INLINE bool solid() const { return (bits & ITSELF) != 0; }
};
FN Fluids neighbours(None) { return {}; }
FN Beside neighbours(int bits) { return {bits}; }
