// Running means and covariances in cell centres, with velocities as the mean of a cell's two faces. All covariances use the
// previous means.
#define UZ 1
#include "cell.h"
#include "centred.h"

// A sample that makes up `share` of the weight of all samples so far (D. H. D. West 1979, Commun. ACM 22, 532).
struct Sample {
  real share, rest;

  INLINE explicit Sample(In64 share) : share(real(*share)), rest(real(1 - *share)) {}

  INLINE real mean(real old, real departure) const { return old + share * departure; }
  INLINE real covariance(real old, real one, real other) const { return rest * (old + share * one * other); }
};

TASK velocity_means(Range range, In u, In v, In w, InOut mean_u, InOut mean_v, InOut mean_w, In64 share) {
  STRIDES(range)
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real a = mean_u[c], b = mean_v[c], d = mean_w[c];
    const real x = centred(u, c, X) - a, y = centred(v, c, Y) - b, z = centred(w, c, Z) - d;
    loaded();
    mean_u[c] = sample.mean(a, x);
    mean_v[c] = sample.mean(b, y);
    mean_w[c] = sample.mean(d, z);
  });
}

TASK velocity_moments(Range range, In u, In v, In w, InOut mean_u, InOut mean_v, InOut mean_w, InOut uu, InOut uv, InOut uw,
                      InOut vv, InOut vw, InOut ww, In64 share) {
  STRIDES(range)
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real a = mean_u[c], b = mean_v[c], d = mean_w[c];
    const real x = centred(u, c, X) - a, y = centred(v, c, Y) - b, z = centred(w, c, Z) - d;
    const real xx = sample.covariance(uu[c], x, x), xy = sample.covariance(uv[c], x, y);
    const real xz = sample.covariance(uw[c], x, z), yy = sample.covariance(vv[c], y, y);
    const real yz = sample.covariance(vw[c], y, z), zz = sample.covariance(ww[c], z, z);
    loaded();
    mean_u[c] = sample.mean(a, x), mean_v[c] = sample.mean(b, y), mean_w[c] = sample.mean(d, z);
    uu[c] = xx, uv[c] = xy, uw[c] = xz, vv[c] = yy, vw[c] = yz, ww[c] = zz;
  });
}

// The velocity and a scalar, the usual case, in one pass through memory.
TASK flow_moments(Range range, In u, In v, In w, In q, InOut mean_u, InOut mean_v, InOut mean_w, InOut mean_q, InOut uu,
                  InOut uv, InOut uw, InOut uq, InOut vv, InOut vw, InOut vq, InOut ww, InOut wq, InOut qq, In64 share) {
  STRIDES(range)
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real a = mean_u[c], b = mean_v[c], d = mean_w[c], e = mean_q[c];
    const real x = centred(u, c, X) - a, y = centred(v, c, Y) - b, z = centred(w, c, Z) - d, s = q[c] - e;
    const real xx = sample.covariance(uu[c], x, x), xy = sample.covariance(uv[c], x, y);
    const real xz = sample.covariance(uw[c], x, z), xs = sample.covariance(uq[c], x, s);
    const real yy = sample.covariance(vv[c], y, y), yz = sample.covariance(vw[c], y, z);
    const real ys = sample.covariance(vq[c], y, s), zz = sample.covariance(ww[c], z, z);
    const real zs = sample.covariance(wq[c], z, s), ss = sample.covariance(qq[c], s, s);
    loaded();
    mean_u[c] = sample.mean(a, x), mean_v[c] = sample.mean(b, y), mean_w[c] = sample.mean(d, z);
    mean_q[c] = sample.mean(e, s);
    uu[c] = xx, uv[c] = xy, uw[c] = xz, uq[c] = xs, vv[c] = yy, vw[c] = yz, vq[c] = ys, ww[c] = zz, wq[c] = zs, qq[c] = ss;
  });
}

TASK scalar_mean(Range range, In q, InOut mean_q, In64 share) {
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real old = mean_q[c];
    mean_q[c] = sample.mean(old, q[c] - old);
  });
}

TASK scalar_moments(Range range, In q, InOut mean_q, InOut qq, In64 share) {
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real old = mean_q[c], departure = q[c] - old, squared = sample.covariance(qq[c], departure, departure);
    loaded();
    mean_q[c] = sample.mean(old, departure), qq[c] = squared;
  });
}

// A further scalar, before the means of the velocity are updated.
TASK carried_moments(Range range, In u, In v, In w, In q, In mean_u, In mean_v, In mean_w, InOut mean_q, InOut uq, InOut vq,
                     InOut wq, InOut qq, In64 share) {
  STRIDES(range)
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real old = mean_q[c], departure = q[c] - old;
    const real xs = sample.covariance(uq[c], centred(u, c, X) - mean_u[c], departure);
    const real ys = sample.covariance(vq[c], centred(v, c, Y) - mean_v[c], departure);
    const real zs = sample.covariance(wq[c], centred(w, c, Z) - mean_w[c], departure);
    const real ss = sample.covariance(qq[c], departure, departure);
    loaded();
    mean_q[c] = sample.mean(old, departure);
    uq[c] = xs, vq[c] = ys, wq[c] = zs, qq[c] = ss;
  });
}

TASK scalar_covariance(Range range, In q, In r, In mean_q, In mean_r, InOut qr, In64 share) {
  const Sample sample(share);
  for_cells(range, CELL(c) { qr[c] = sample.covariance(qr[c], q[c] - mean_q[c], r[c] - mean_r[c]); });
}
