// Friction between layers of fluid: what viscosity adds to the momentum at a face.
#include "metrics.h"

// One viscosity everywhere: viscosity Laplacian(q) at the low face across `a` of cell c. q is the velocity along a.
struct Molecular {
  real viscosity;

  INLINE Molecular on(int, Index) const { return *this; }
  INLINE real at(In q, In, In, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real two = 2 * q[c];
    const real laplacian = a.bend_on_faces(q[c - A], two, q[c + A]) + b.bend_in_cells(q[c - B], two, q[c + B]) +
                           d.bend_in_cells(q[c - D], two, q[c + D]);
    return viscosity * laplacian;
  }
};

// The edges of a face, low and high across b and across d, and which of them touch a body.
enum { B_LOW, B_HIGH, D_LOW, D_HIGH };
struct NoneTouches {
  INLINE bool touches(int) const { return false; }
};
struct Touching {
  int bits;
  INLINE bool touches(int n) const { return (bits & 1 << n) != 0; }
};

// With an eddy viscosity in cells: div(nu (grad u + grad u^T)), nu = viscosity + nu_t, but viscosity on edges that touch a
// body. r and s are the velocities along b and d.
template <class Edges>
struct Stress {
  real viscosity;
  In nu_t;
  Edges edges;

  // nu (dq/db + dr/da) at the edge that is low across a and b of cell c, the n-th along b from the one that the axes are seen
  // from; nu_t is the mean of the four cells around it.
  INLINE real shear(In q, In r, Index c, Axis a, Axis b, int n, bool touches) const {
    const Index A = a.step, B = b.step;
    const real around = (nu_t[c] + nu_t[c - (A + B)]) + (nu_t[c - A] + nu_t[c - B]);
    const real nu = touches ? viscosity : viscosity + real(0.25) * around;
    return nu * (b.per_face(n) * (q[c] - q[c - B]) + a.per_face() * (r[c] - r[c - A]));
  }

  INLINE real at(In q, In r, In s, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real low = (viscosity + nu_t[c - A]) * (a.inner_on_faces(-1) * (q[c] - q[c - A]));
    const real high = (viscosity + nu_t[c]) * (a.inner_on_faces(0) * (q[c + A] - q[c]));
    const real b_low = shear(q, r, c, a, b, 0, edges.touches(B_LOW)), b_high = shear(q, r, c + B, a, b, 1, edges.touches(B_HIGH));
    const real d_low = shear(q, s, c, a, d, 0, edges.touches(D_LOW)), d_high = shear(q, s, c + D, a, d, 1, edges.touches(D_HIGH));
    return 2 * a.outer_on_faces() * (high - low) + b.per_cell() * (b_high - b_low) + d.per_cell() * (d_high - d_low);
  }
};

struct Turbulent {
  real viscosity;
  In nu_t;
  INLINE Stress<NoneTouches> on(int, Index) const { return {viscosity, nu_t, {}}; }
};

// Beside bodies: of the low face across each axis four bits say which of its edges touch one.
struct TurbulentBeside {
  real viscosity;
  In nu_t;
  InShort edges;
  INLINE Stress<Touching> on(int axis, Index c) const { return {viscosity, nu_t, {edges[c] >> (4 * axis)}}; }
};
