// Parts of the formulas of a case: fields interpolated to one location, coordinates, and functions of doubles.
#include "centred.h"
#include "metrics.h"

// A field on the low face of a cell across the axis, interpolated linearly between the centres on both sides: for fields at
// centres, and for fields on the faces across another direction b
FN real between(In q, Index c, Axis a) { return real(0.5) * a.twice_between(q[c - a.step], q[c], 0); }
FN real between(In q, Index c, Index b, Axis a) {
  return real(0.5) * a.twice_between(centred(q, c - a.step, b), centred(q, c, b), 0);
}

// Distance of the low face of cell n along an axis from the low end
#ifdef STRETCHED
FN double face(const Grid& g, int axis, int n) { return double(g.centre[axis][n]) - 0.5 * double(g.widths[axis][n]); }
#else
FN double face(const Grid& g, int axis, int n) { return n * double(g.spacing[axis]); }
#endif

#ifdef GPU
#define MATH(name) name
#else
#define MATH(name) __builtin_##name
#endif

FN double square(double a) { return a * a; }
FN double cube(double a) { return a * a * a; }

// NaN wins, as in NumPy.
FN double least(double a, double b) { return (a < b) | (a != a) ? a : b; }
FN double most(double a, double b) { return (a > b) | (a != a) ? a : b; }
