// Friction between layers of fluid: what viscosity adds to the momentum at a face.

// A direction: from a cell to the next, and one over their distance.
struct Axis {
  Index step;
  real inverse;
};

// One viscosity everywhere: viscosity Laplacian(q) at the low face across `a` of cell c. q is the velocity along a.
struct Molecular {
  real viscosity;

  INLINE real at(In q, In, In, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real two = 2 * q[c];
    const real laplacian = a.inverse * a.inverse * (q[c - A] - two + q[c + A]) +
                           b.inverse * b.inverse * (q[c - B] - two + q[c + B]) +
                           d.inverse * d.inverse * (q[c - D] - two + q[c + D]);
    return viscosity * laplacian;
  }
};

// With an eddy viscosity in cells: div(nu (grad u + grad u^T)), nu = viscosity + nu_t. r and s are the velocities along
// b and d.
struct Turbulent {
  real viscosity;
  In nu_t;

  // nu (dq/db + dr/da) at the edge that is low across a and b of cell c, nu being the mean of the four cells around it.
  INLINE real shear(In q, In r, Index c, Axis a, Axis b) const {
    const Index A = a.step, B = b.step;
    const real around = (nu_t[c] + nu_t[c - A - B]) + (nu_t[c - A] + nu_t[c - B]);
    return (viscosity + real(0.25) * around) * (b.inverse * (q[c] - q[c - B]) + a.inverse * (r[c] - r[c - A]));
  }

  INLINE real at(In q, In r, In s, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real low = (viscosity + nu_t[c - A]) * (q[c] - q[c - A]), high = (viscosity + nu_t[c]) * (q[c + A] - q[c]);
    return 2 * a.inverse * a.inverse * (high - low) + b.inverse * (shear(q, r, c + B, a, b) - shear(q, r, c, a, b)) +
           d.inverse * (shear(q, s, c + D, a, d) - shear(q, s, c, a, d));
  }
};
