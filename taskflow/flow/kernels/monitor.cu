// Numbers of the log of a flow, each folded from all cells.
#define UZ 32
#include "cell.h"
#include "metrics.h"

// Twice the mean of q^2 on the two faces of a cell across one direction.
FN double squares(In q, Index c, Index step) {
  const double low = q[c], high = q[c + step];
  return low * low + high * high;
}

// divergence = max |div(u)|
TASK divergence_max(Range range, In u, In v, In w, Partial divergence, Grid grid) {
  STRIDES(range)
  reduce_cells(range, divergence, MAX, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    return magnitude(x.per_cell() * (u[c + X] - u[c]) + y.per_cell() * (v[c + Y] - v[c]) + z.per_cell() * (w[c + Z] - w[c]));
  });
}

// energy = sum over cells of |u|^2 / 2, with the mean of the squares on a cell's two faces, each counting as its volume
TASK kinetic_energy(Range range, In u, In v, In w, Partial energy, Grid grid) {
  STRIDES(range)
  reduce_cells(range, energy, SUM, CELL(c) {
    return volume(grid, c) * (0.25 * (squares(u, c, X) + squares(v, c, Y) + squares(w, c, Z)));
  });
}

// speed = max of |u|, with the mean of the squares on a cell's two faces
TASK largest_speed(Range range, In u, In v, In w, Partial speed) {
  STRIDES(range)
  reduce_cells(range, speed, MAX, CELL(c) { return root(0.5 * (squares(u, c, X) + squares(v, c, Y) + squares(w, c, Z))); });
}

// change = max of |u - u_old|, |v - v_old|, |w - w_old|
TASK velocity_change(Range range, In u, In v, In w, In u_old, In v_old, In w_old, Partial change) {
  reduce_cells(range, change, MAX, CELL(c) {
    return larger(larger(magnitude(u[c] - u_old[c]), magnitude(v[c] - v_old[c])), magnitude(w[c] - w_old[c]));
  });
}

// total = sum over cells of q, each counting as its volume
TASK total(Range range, In q, Partial total, Grid grid) {
  reduce_cells(range, total, SUM, CELL(c) { return volume(grid, c) * double(q[c]); });
}

// The eddy viscosity between two cells, and the diffusivity over their distance, or diffusivity + nu_t / prandtl
FN None between(None, Index, Index) { return {}; }
FN double between(In nu_t, Index low, Index high) { return 0.5 * (nu_t[low] + nu_t[high]); }
FN real conductance(const Conduction& face, None) { return face.conductance; }
FN double conductance(const Conduction& face, double eddies) { return face.conductance + face.eddy * eddies; }

// flux = sum over faces of sign (q (T_low + T_high) / 2 + diffusivity (T_low - T_high) / h): heat per area and time
// through the low faces of the range, by flow and by conduction
TASK heat_flux(Range range, In T, In q OPTIONAL(nu_t), Partial flux, Conduction face, Grid grid) {
  FRAME(range)
  reduce_cells(range, flux, SUM, CELL(c) {
    const double low = T[c - N], high = T[c];
    const auto eddies = between(nu_t, c - N, c);
    const double through = 0.5 * q[c] * (low + high) + conductance(face, eddies) * (low - high);
    return area(grid, AXIS, c) * (face.sign * through);
  });
}
