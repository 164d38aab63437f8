// Ghost values beyond two sides at once, for differences along faces: plane through the three cells beside.
#include "cell.h"

#ifdef ACROSS_R
#define ALONG R
#else
#define ALONG S
#endif

FN void fill(None, Index, Index, Index) {}
FN void fill(InOut q, Index c, Index N, Index B) { q[c] = q[c + N] + q[c + B] - q[c + N + B]; }

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
