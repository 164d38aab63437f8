// Flux of turbulent kinetic energy by fluctuations, for its budget, in addition to covariances and dissipation.
#define UZ 1
#include "cell.h"
#include "centred.h"

// <u'_i u'_i u'_j> / 2 with one more sample, given the previous means and covariances (P. Pebay 2008, SAND2008-6212)
TASK energy_flux(Range range, In u, In v, In w, In mean_u, In mean_v, In mean_w, In uu, In uv, In uw, In vv, In vw, In ww,
                 InOut flux_x, InOut flux_y, InOut flux_z, In64 share) {
  STRIDES(range)
  const real a = real(*share), rest = real(1 - *share), skew = real(*share * (1 - 2 * *share));
  for_cells(range, CELL(c) {
    const real x = centred(u, c, X) - mean_u[c], y = centred(v, c, Y) - mean_v[c], z = centred(w, c, Z) - mean_w[c];
    const real half = real(0.5) * (x * x + y * y + z * z), energy = real(0.5) * (uu[c] + vv[c] + ww[c]);
    const real xy = uv[c], xz = uw[c], yz = vw[c];
    const real along_x = x * energy + x * uu[c] + y * xy + z * xz;
    const real along_y = y * energy + x * xy + y * vv[c] + z * yz;
    const real along_z = z * energy + x * xz + y * yz + z * ww[c];
    const real old_x = flux_x[c], old_y = flux_y[c], old_z = flux_z[c];
    loaded();
    flux_x[c] = rest * (old_x - a * along_x + skew * half * x);
    flux_y[c] = rest * (old_y - a * along_y + skew * half * y);
    flux_z[c] = rest * (old_z - a * along_z + skew * half * z);
  });
}

// The means of velocities, on faces
TASK face_means(Range range, In u, In v, In w, InOut mean_u, InOut mean_v, InOut mean_w, In64 share) {
  const real a = real(*share);
  for_cells(range, CELL(c) {
    const real x = mean_u[c], y = mean_v[c], z = mean_w[c];
    const real dx = a * (u[c] - x), dy = a * (v[c] - y), dz = a * (w[c] - z);
    loaded();
    mean_u[c] = x + dx, mean_v[c] = y + dy, mean_w[c] = z + dz;
  });
}
