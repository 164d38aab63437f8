/// # Seven points: `#include "star.h"`
/// Star: a value and its neighbours along x, y and z: `q.here`, `q.low[0]`, `q.high[2]`
/// star(p, c, X, Y, Z): these of a field
// Seven points: a value and its neighbours along x, y and z.
struct Star {
  real here, low[3], high[3];
};

FN Star star(In p, Index c, Index X, Index Y, Index Z) {
  return {p[c], {p[c - X], p[c - Y], p[c - Z]}, {p[c + X], p[c + Y], p[c + Z]}};
}
