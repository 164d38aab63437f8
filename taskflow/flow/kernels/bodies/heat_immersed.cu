// The heat from an immersed body into the fluid, as the scheme conducts and carries it.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"
#include "../scalars/diffusivity.h"
#include "../scalars/limited.h"

// Net flow of T out of cell number n along one direction by q, by central differences or with values within bounds
FN real out(In T, In q, Index c, int n, int number, const Grid& grid, Axis a) {
  const Index S = a.step;
#ifdef BOUNDED
  const Direction d{number, S, grid.first[number], grid.last[number], q, q};
  const auto by = [&](Index at, int m) { return passing(T, at, m, d, a.per_face(), Even{0}, 0); };
  return a.per_cell() * (by(c + S, n + 1) - by(c, n));
#else
  return real(0.5) * a.per_cell() * (q[c + S] * (T[c] + T[c + S]) - q[c] * (T[c - S] + T[c]));
#endif
}

// flux = volume times the sum over the cells of a body of diffusivity (warm - conductance T) or, in cells with a given
// temperature, of the advective outflow
TASK heat_from_immersed_body(Range range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In conductance_T, In warm_T,
                             Partial flux, Grid grid, Transport transport, int number) {
  STRIDES(range)
  reduce_cells(range, flux, SUM, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const double volume = double(width(grid, 0, c.i)) * width(grid, 1, c.j) * width(grid, 2, c.k);
    const double flow = double(out(T, u, c, c.i, 0, grid, x)) + out(T, v, c, c.j, 1, grid, y) + out(T, w, c, c.k, 2, grid, z);
    const double conducted = transport.diffusivity * (double(warm_T[c]) - double(conductance_T[c]) * T[c]);
    return owner_T[c] == number ? volume * (T_faces[c] & KEEPS ? flow : conducted) : 0.0;
  });
}
