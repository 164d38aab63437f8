// The heat from a body into the fluid, as the scheme conducts it through its faces.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"

// Heat per area and diffusivity from a body into the fluid through the closed face between two cells; 0 where both are solid
FN double warmed(In T, Index c, Axis a, bool solid, bool solid_before) {
  const double rise = double(T[c - a.step]) - T[c];
  return solid == solid_before ? 0.0 : solid ? -2.0 * a.per_cell(-1) * rise : 2.0 * a.per_cell() * rise;
}

// flux = sum over the faces that belong to a body of 2 diffusivity (T_body - T) / h times their area
TASK heat_from_body(Range range, In T, InByte solid, InByte owner_x, InByte owner_y, InByte owner_z, Partial flux, Grid grid,
                    Transport transport, int number) {
  STRIDES(range)
  reduce_cells(range, flux, SUM, CELL(c) {
    const int bits = solid[c];
    const bool here = bits & ITSELF;
    const double wide_x = width(grid, 0, c.i), wide_y = width(grid, 1, c.j), wide_z = width(grid, 2, c.k);
    const double from_x = wide_y * wide_z * warmed(T, c, axis(grid, 0, c.i, X), here, bits & 1);
    const double from_y = wide_x * wide_z * warmed(T, c, axis(grid, 1, c.j, Y), here, bits & 4);
    const double from_z = wide_x * wide_y * warmed(T, c, axis(grid, 2, c.k, Z), here, bits & 16);
    return transport.diffusivity * (((owner_x[c] == number) & (c.i != grid.first[0]) ? from_x : 0.0) +
                                    ((owner_y[c] == number) & (c.j != grid.first[1]) ? from_y : 0.0) +
                                    ((owner_z[c] == number) & (c.k != grid.first[2]) ? from_z : 0.0));
  });
}
