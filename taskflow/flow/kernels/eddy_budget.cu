// The eddy stress nu_t (grad u + grad u^T): running means of the stress, of its work on the velocity gradient, and of its
// covariance with the velocity.
#define UZ 1
#include "cell.h"
#include "centred.h"
#include "component.h"
#include "flags.h"

// An edge touches a body if one of the four faces that meet there is closed.
struct NoBodies {
  INLINE bool touch(Index, const Component&, int, const Component&, int) const { return false; }
};
struct Bodies {
  InByte solid;

  // Whether the face of a cell across the axis of p is closed: the low (0) or the high one (1)
  INLINE bool shut(Index c, const Component& p, int n) const { return closed(solid[c], 2 * p.number + n); }
  // The low or high edge along p and along q
  INLINE bool touch(Index c, const Component& p, int n, const Component& q, int m) const {
    const Index A = p.axis.step, B = q.axis.step;
    return shut(c, p, n) | shut(c, q, m) | shut(m ? c + B : c - B, p, n) | shut(n ? c + A : c - A, q, m);
  }
};

FN NoBodies bodies_of(None) { return {}; }
FN Bodies bodies_of(InByte solid) { return {solid}; }

// The stress between two directions in a cell, and its work: means over the four edges of the cell
struct Sheared {
  real stress, work;
};

// Of two components; nu_t on an edge is the mean of the four cells around, or 0 where it touches a body
template <class Bodies>
FN Sheared sheared(const Component& p, const Component& q, In nu_t, Index c, const Bodies& bodies) {
  const Index A = p.axis.step, B = q.axis.step;
  real stress = 0, work = 0;
  for (int n = 0; n < 2; ++n) {
    for (int m = 0; m < 2; ++m) {
      const Index e = c + n * A + m * B;
      const real around = (nu_t[e] + nu_t[e - A - B]) + (nu_t[e - A] + nu_t[e - B]);
      const real nu = bodies.touch(c, p, n, q, m) ? real(0) : real(0.25) * around;
      const real strain = q.axis.per_face(m) * (p.q[e] - p.q[e - B]) + p.axis.per_face(n) * (q.q[e] - q.q[e - A]);
      stress += nu * strain, work += nu * strain * strain;
    }
  }
  return {real(0.25) * stress, real(0.25) * work};
}

// The same along one direction
FN Sheared stretched(const Component& p, In nu_t, Index c) {
  const real rise = p.axis.per_cell() * (p.q[c + p.axis.step] - p.q[c]), stress = 2 * nu_t[c] * rise;
  return {stress, stress * rise};
}

// With one more sample, given the previous mean velocities
TASK eddy_budget(Range range, In u, In v, In w, In nu_t OPTIONAL(solid), In mean_u, In mean_v, In mean_w, InOut xx, InOut xy,
                 InOut xz, InOut yy, InOut yz, InOut zz, InOut flux_x, InOut flux_y, InOut flux_z, InOut rate, In64 share,
                 Grid grid) {
  STRIDES(range)
  const real a = real(*share), rest = real(1 - *share);
  const auto bodies = bodies_of(solid);
  for_cells(range, CELL(c) {
    const Component U{u, 0, axis(grid, 0, c.i, X)}, V{v, 1, axis(grid, 1, c.j, Y)}, W{w, 2, axis(grid, 2, c.k, Z)};
    const Sheared uu = stretched(U, nu_t, c), vv = stretched(V, nu_t, c), ww = stretched(W, nu_t, c);
    const Sheared uv = sheared(U, V, nu_t, c, bodies), uw = sheared(U, W, nu_t, c, bodies);
    const Sheared vw = sheared(V, W, nu_t, c, bodies);
    const real work = uu.work + vv.work + ww.work + uv.work + uw.work + vw.work;
    const real p = centred(u, c, X) - mean_u[c], q = centred(v, c, Y) - mean_v[c];
    const real r = centred(w, c, Z) - mean_w[c];
    const real old_xx = xx[c], old_xy = xy[c], old_xz = xz[c], old_yy = yy[c], old_yz = yz[c], old_zz = zz[c];
    const real dxx = uu.stress - old_xx, dxy = uv.stress - old_xy, dxz = uw.stress - old_xz;
    const real dyy = vv.stress - old_yy, dyz = vw.stress - old_yz, dzz = ww.stress - old_zz;
    const real along_x = flux_x[c] + a * (p * dxx + q * dxy + r * dxz);
    const real along_y = flux_y[c] + a * (p * dxy + q * dyy + r * dyz);
    const real along_z = flux_z[c] + a * (p * dxz + q * dyz + r * dzz), old = rate[c];
    loaded();
    flux_x[c] = rest * along_x, flux_y[c] = rest * along_y, flux_z[c] = rest * along_z;
    xx[c] = old_xx + a * dxx, xy[c] = old_xy + a * dxy, xz[c] = old_xz + a * dxz;
    yy[c] = old_yy + a * dyy, yz[c] = old_yz + a * dyz, zz[c] = old_zz + a * dzz;
    rate[c] = old + a * (work - old);
  });
}
