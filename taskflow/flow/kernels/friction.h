// Friction between layers of fluid: what viscosity adds to the momentum at a face.
#include "metrics.h"

// One viscosity everywhere: viscosity Laplacian(q) at the low face across `a` of cell c. q is the velocity along a.
struct Molecular {
  real viscosity;

  INLINE real at(In q, In, In, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real two = 2 * q[c];
    const real laplacian = a.bend_on_faces(q[c - A], two, q[c + A]) + b.bend_in_cells(q[c - B], two, q[c + B]) +
                           d.bend_in_cells(q[c - D], two, q[c + D]);
    return viscosity * laplacian;
  }
};

// With an eddy viscosity in cells: div(nu (grad u + grad u^T)), nu = viscosity + nu_t. r and s are the velocities along
// b and d.
struct Turbulent {
  real viscosity;
  In nu_t;

  // nu (dq/db + dr/da) at the edge that is low across a and b of cell c, the n-th along b from the one that the axes are seen
  // from; nu is the mean of the four cells around it.
  INLINE real shear(In q, In r, Index c, Axis a, Axis b, int n) const {
    const Index A = a.step, B = b.step;
    const real around = (nu_t[c] + nu_t[c - A - B]) + (nu_t[c - A] + nu_t[c - B]);
    return (viscosity + real(0.25) * around) * (b.per_face(n) * (q[c] - q[c - B]) + a.per_face() * (r[c] - r[c - A]));
  }

  INLINE real at(In q, In r, In s, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real low = (viscosity + nu_t[c - A]) * (a.inner_on_faces(-1) * (q[c] - q[c - A]));
    const real high = (viscosity + nu_t[c]) * (a.inner_on_faces(0) * (q[c + A] - q[c]));
    return 2 * a.outer_on_faces() * (high - low) +
           b.per_cell() * (shear(q, r, c + B, a, b, 1) - shear(q, r, c, a, b, 0)) +
           d.per_cell() * (shear(q, s, c + D, a, d, 1) - shear(q, s, c, a, d, 0));
  }
};
