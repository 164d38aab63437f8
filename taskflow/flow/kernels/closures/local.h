// The inputs of a closure in one cell: the velocity gradient du_i / dx_j, the change of u_i over one cell along grid line j,
// and the square of the filter width, which closures that are not FILTERED lack.
#include "../eddies.h"

#ifdef FILTERED
struct Local {
  Gradient gradient, change;
  real filter_square;
};
FN Local local(const Gradient& gradient, const Gradient& change, real filter_square) { return {gradient, change, filter_square}; }
#else
struct Local {
  Gradient gradient, change;
};
FN Local local(const Gradient& gradient, const Gradient& change, None) { return {gradient, change}; }
#endif
#include "Closure.h"
