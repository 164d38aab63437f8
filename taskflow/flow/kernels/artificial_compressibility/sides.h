// What lies on a face: another cell, or a side of the grid. Sides are at ends of ranges alone: charts end where ranges end.

enum Side { INTERIOR, CLOSED, GIVEN, OPEN, FAR };  // as `sides` has it of the cell beyond

// The kind of a face, and whether its high cell is the one beyond
struct Lying {
  int kind;
  bool above;
};

// On the low face of a cell, A being the step across it
template <class F, class Step>
FN Lying lying_on(InByte sides, const F& f, Step A) {
  if constexpr (F::within) return {INTERIOR, false};
  if (!f.end) return {INTERIOR, false};
  const int low = sides[f - A], high = sides[f];
  return {low | high, high != INTERIOR};  // one of the two is inside
}
