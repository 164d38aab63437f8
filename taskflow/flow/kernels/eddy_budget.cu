// What the stress of eddies, nu_t (grad u + grad u^T), takes from the flow and carries: running means of the stress, of its
// work on the velocity gradient, and its covariance with the velocity.
#define UZ 1
#include "cell.h"
#include "metrics.h"

FN real centred(In q, Index c, Index step) { return real(0.5) * (q[c] + q[c + step]); }

// The stress between two directions in a cell, and its work: the means of those on the four edges of the cell
struct Sheared {
  real stress, work;
};

// p is the velocity along a, q that along b; nu_t on an edge is the mean of the four cells around
FN Sheared sheared(In p, In q, In nu_t, Index c, Axis a, Axis b) {
  real stress = 0, work = 0;
  for (int n = 0; n < 2; ++n) {
    for (int m = 0; m < 2; ++m) {
      const Index e = c + n * a.step + m * b.step;
      const real nu = real(0.25) * ((nu_t[e] + nu_t[e - a.step - b.step]) + (nu_t[e - a.step] + nu_t[e - b.step]));
      const real strain = b.per_face(m) * (p[e] - p[e - b.step]) + a.per_face(n) * (q[e] - q[e - a.step]);
      stress += nu * strain, work += nu * strain * strain;
    }
  }
  return {real(0.25) * stress, real(0.25) * work};
}

// The same along one direction
FN Sheared stretched(In p, In nu_t, Index c, Axis a) {
  const real rise = a.per_cell() * (p[c + a.step] - p[c]), stress = 2 * nu_t[c] * rise;
  return {stress, stress * rise};
}

// With one more sample; means of velocities are those of before
TASK eddy_budget(Range range, In u, In v, In w, In nu_t, In mean_u, In mean_v, In mean_w, InOut xx, InOut xy, InOut xz,
                 InOut yy, InOut yz, InOut zz, InOut flux_x, InOut flux_y, InOut flux_z, InOut rate, In64 share, Grid grid) {
  STRIDES(range)
  const real a = real(*share), rest = real(1 - *share);
  for_cells(range, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const Sheared uu = stretched(u, nu_t, c, x), vv = stretched(v, nu_t, c, y), ww = stretched(w, nu_t, c, z);
    const Sheared uv = sheared(u, v, nu_t, c, x, y), uw = sheared(u, w, nu_t, c, x, z), vw = sheared(v, w, nu_t, c, y, z);
    const real work = uu.work + vv.work + ww.work + uv.work + uw.work + vw.work;
    const real p = centred(u, c, X) - mean_u[c], q = centred(v, c, Y) - mean_v[c], r = centred(w, c, Z) - mean_w[c];
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
