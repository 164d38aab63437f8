// Ghost values beyond two sides at once, for differences along faces: by the plane through the three cells beside, or,
// where these three are all that meet there, their mean.
#include "cell.h"

#ifdef ACROSS_R
#define ALONG R
#else
#define ALONG S
#endif

FN void fill(None, Index, Index, Index) {}
FN void fill(InOut q, Index c, Index N, Index B) { q[c] = q[c + N] + q[c + B] - q[c + N + B]; }

// The bits are the same in whatever order: those of all three charts.
FN real mean_of_three(real a, real b, real c) {
  const real low = a < b ? a : b, high = a < b ? b : a;
  const real least = c < low ? c : low, most = c < high ? high : c, middle = c < low ? low : c < high ? c : high;
  return ((least + most) + middle) * real(1.0 / 3);
}
FN void share(None, Index, Index, Index) {}
FN void share(InOut q, Index c, Index N, Index B) { q[c] = mean_of_three(q[c + N], q[c + B], q[c + N + B]); }

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

TASK among_three(Range range, InOut u, InOut v, InOut w OPTIONAL(T), Corner corner) {
  FRAME(range)
  const Index B = corner.high ? -ALONG : ALONG;
  for_cells(range, CELL(c) {
    share(u, c, N, B), share(v, c, N, B), share(w, c, N, B), share(T, c, N, B);
  });
}

TASK scalar_among_three(Range range, InOut s, Corner corner) {
  FRAME(range)
  const Index B = corner.high ? -ALONG : ALONG;
  for_cells(range, CELL(c) { share(s, c, N, B); });
}
