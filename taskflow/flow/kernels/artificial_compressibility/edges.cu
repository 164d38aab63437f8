// Ghost values beyond two sides at once, for differences along faces: by the plane through the three cells beside, or,
// where these three are all that meet there, their mean.
#include "cell.h"

#ifdef ACROSS_R
#define ALONG R
#else
#define ALONG S
#endif

#ifdef MEAN_OF_THREE
// The bits are the same in whatever order: those of all three charts.
FN real beyond(real a, real b, real c) {
  const real low = a < b ? a : b, high = a < b ? b : a;
  const real least = c < low ? c : low, most = c < high ? high : c, middle = c < low ? low : c < high ? c : high;
  return ((least + most) + middle) * real(1.0 / 3);
}
#else
FN real beyond(real a, real b, real c) { return a + b - c; }
#endif
FN void fill(None, Index, Index, Index) {}
FN void fill(InOut q, Index c, Index N, Index B) { q[c] = beyond(q[c + N], q[c + B], q[c + N + B]); }

TASK beyond_edge(Range range, InOut u, InOut v, InOut w OPTIONAL(T), Corner corner) {
  FRAME(range)
  const Index B = corner.high ? -ALONG : ALONG;
  for_cells(range, CELL(c) {
    fill(u, c, N, B), fill(v, c, N, B), fill(w, c, N, B), fill(T, c, N, B);
  });
}

TASK scalar_beyond_edge(Range range, InOut s, Corner corner) {
  FRAME(range)
  const Index B = corner.high ? -ALONG : ALONG;
  for_cells(range, CELL(c) { fill(s, c, N, B); });
}
