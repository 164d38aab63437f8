// What the budget of kinetic energy needs of eddies, beside bodies: none have any on edges that touch one.
#define UZ 1
#include "cell.h"
#include "../eddy_budget.h"
#include "../flags.h"

// An edge touches a body where one of the four faces that meet there is closed.
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

TASK eddy_budget_obstructed(Range range, In u, In v, In w, In nu_t, InByte solid, In mean_u, In mean_v, In mean_w, InOut xx,
                            InOut xy, InOut xz, InOut yy, InOut yz, InOut zz, InOut flux_x, InOut flux_y, InOut flux_z,
                            InOut rate, In64 share, Grid grid) {
  sample(range, {u, v, w, mean_u, mean_v, mean_w}, nu_t, {xx, xy, xz, yy, yz, zz}, {flux_x, flux_y, flux_z}, rate, share, grid,
         Bodies{solid});
}
