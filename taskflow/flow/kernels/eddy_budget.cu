// What the budget of kinetic energy needs of eddies.
#define UZ 1
#include "cell.h"
#include "eddy_budget.h"

TASK eddy_budget(Range range, In u, In v, In w, In nu_t, In mean_u, In mean_v, In mean_w, InOut xx, InOut xy, InOut xz,
                 InOut yy, InOut yz, InOut zz, InOut flux_x, InOut flux_y, InOut flux_z, InOut rate, In64 share, Grid grid) {
  sample(range, {u, v, w, mean_u, mean_v, mean_w}, nu_t, {xx, xy, xz, yy, yz, zz}, {flux_x, flux_y, flux_z}, rate, share, grid,
         NoBodies{});
}
