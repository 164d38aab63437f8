// Running means and covariances of what is in cell centres, velocities brought there as the mean of a cell's two faces.
// All tasks read the means of before the sample; that of a quantity comes after its covariances.
#define UZ 1
#include "cell.h"

// A sample that makes up `share` of the weight of all samples so far (D. H. D. West 1979, Commun. ACM 22, 532).
struct Sample {
  real share, rest;

  INLINE explicit Sample(In64 share) : share(real(*share)), rest(real(1 - *share)) {}

  INLINE real mean(real old, real departure) const { return old + share * departure; }
  INLINE real covariance(real old, real one, real other) const { return rest * (old + share * one * other); }
};

FN real centred(In q, Index c, Index step) { return real(0.5) * (q[c] + q[c + step]); }

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
    mean_u[c] = sample.mean(a, x);
    mean_v[c] = sample.mean(b, y);
    mean_w[c] = sample.mean(d, z);
    uu[c] = xx;
    uv[c] = xy;
    uw[c] = xz;
    vv[c] = yy;
    vw[c] = yz;
    ww[c] = zz;
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
    mean_q[c] = sample.mean(old, departure);
    qq[c] = squared;
  });
}

TASK velocity_covariances(Range range, In u, In v, In w, In q, In mean_u, In mean_v, In mean_w, In mean_q, InOut uq, InOut vq,
                          InOut wq, In64 share) {
  STRIDES(range)
  const Sample sample(share);
  for_cells(range, CELL(c) {
    const real departure = q[c] - mean_q[c];
    const real xq = sample.covariance(uq[c], centred(u, c, X) - mean_u[c], departure);
    const real yq = sample.covariance(vq[c], centred(v, c, Y) - mean_v[c], departure);
    const real zq = sample.covariance(wq[c], centred(w, c, Z) - mean_w[c], departure);
    loaded();
    uq[c] = xq;
    vq[c] = yq;
    wq[c] = zq;
  });
}

TASK scalar_covariance(Range range, In q, In r, In mean_q, In mean_r, InOut qr, In64 share) {
  const Sample sample(share);
  for_cells(range, CELL(c) { qr[c] = sample.covariance(qr[c], q[c] - mean_q[c], r[c] - mean_r[c]); });
}
