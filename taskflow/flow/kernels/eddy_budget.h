// What the stress of eddies, nu_t (grad u + grad u^T), takes from the flow and carries: running means of the stress, of its
// work on the velocity gradient, and its covariance with the velocity.
#include "centred.h"
#include "component.h"

// The stress between two directions in a cell, and its work: the means of those on the four edges of the cell
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

// Bodies, of which there are none.
struct NoBodies {
  INLINE bool touch(Index, const Component&, int, const Component&, int) const { return false; }
};

struct Velocity {
  In u, v, w, mean_u, mean_v, mean_w;
};
struct Stresses {
  InOut xx, xy, xz, yy, yz, zz;
};
struct Fluxes {
  InOut x, y, z;
};

// With one more sample; means of velocities are those of before
template <class Bodies>
FN void sample(const Range& range, Velocity of, In nu_t, Stresses s, Fluxes flux, InOut rate, In64 share, const Grid& grid,
               const Bodies& bodies) {
  STRIDES(range)
  const real a = real(*share), rest = real(1 - *share);
  for_cells(range, CELL(c) {
    const Component u{of.u, 0, axis(grid, 0, c.i, X)}, v{of.v, 1, axis(grid, 1, c.j, Y)}, w{of.w, 2, axis(grid, 2, c.k, Z)};
    const Sheared uu = stretched(u, nu_t, c), vv = stretched(v, nu_t, c), ww = stretched(w, nu_t, c);
    const Sheared uv = sheared(u, v, nu_t, c, bodies), uw = sheared(u, w, nu_t, c, bodies);
    const Sheared vw = sheared(v, w, nu_t, c, bodies);
    const real work = uu.work + vv.work + ww.work + uv.work + uw.work + vw.work;
    const real p = centred(of.u, c, X) - of.mean_u[c], q = centred(of.v, c, Y) - of.mean_v[c];
    const real r = centred(of.w, c, Z) - of.mean_w[c];
    const real old_xx = s.xx[c], old_xy = s.xy[c], old_xz = s.xz[c], old_yy = s.yy[c], old_yz = s.yz[c], old_zz = s.zz[c];
    const real dxx = uu.stress - old_xx, dxy = uv.stress - old_xy, dxz = uw.stress - old_xz;
    const real dyy = vv.stress - old_yy, dyz = vw.stress - old_yz, dzz = ww.stress - old_zz;
    const real along_x = flux.x[c] + a * (p * dxx + q * dxy + r * dxz);
    const real along_y = flux.y[c] + a * (p * dxy + q * dyy + r * dyz);
    const real along_z = flux.z[c] + a * (p * dxz + q * dyz + r * dzz), old = rate[c];
    loaded();
    flux.x[c] = rest * along_x, flux.y[c] = rest * along_y, flux.z[c] = rest * along_z;
    s.xx[c] = old_xx + a * dxx, s.xy[c] = old_xy + a * dxy, s.xz[c] = old_xz + a * dxz;
    s.yy[c] = old_yy + a * dyy, s.yz[c] = old_yz + a * dyz, s.zz[c] = old_zz + a * dzz;
    rate[c] = old + a * (work - old);
  });
}
