// The heat from an immersed body into the fluid, as the scheme conducts and carries it.
#define UZ 32
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"
#include "../scalars/diffusivity.h"
#include "../scalars/limited.h"

// Net flow of T out of cell number n along one direction by q, by central differences or with values within bounds
struct CentralMean {
  INLINE static real out(In T, In q, Index c, int, int, const Grid&, Axis a) {
    const Index S = a.step;
    return real(0.5) * a.per_cell() * (q[c + S] * (T[c] + T[c + S]) - q[c] * (T[c - S] + T[c]));
  }
};
struct Limited {
  INLINE static real out(In T, In q, Index c, int n, int number, const Grid& grid, Axis a) {
    const Direction d{number, a.step, grid.first[number], grid.last[number], q, q};
    const auto by = [&](Index at, int m) { return passing(T, at, m, d, a.per_face(), Even{0}, 0); };
    return a.per_cell() * (by(c + a.step, n + 1) - by(c, n));
  }
};

// flux = volume times the sum over the cells that belong to a body of diffusivity (warm - bond T), or, of cells that are
// held, of what the flow carries out of them
template <class Values>
FN void heat_from(const Range& range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In bond_T, In warm_T,
                  Partial flux, const Grid& grid, real diffusivity, int number) {
  STRIDES(range)
  reduce_cells(range, flux, SUM, CELL(c) {
    const Axis x = axis(grid, 0, c.i, X), y = axis(grid, 1, c.j, Y), z = axis(grid, 2, c.k, Z);
    const double volume = double(width(grid, 0, c.i)) * width(grid, 1, c.j) * width(grid, 2, c.k);
    const double flow = double(Values::out(T, u, c, c.i, 0, grid, x)) + Values::out(T, v, c, c.j, 1, grid, y) +
                        Values::out(T, w, c, c.k, 2, grid, z);
    const double conducted = diffusivity * (double(warm_T[c]) - double(bond_T[c]) * T[c]);
    return owner_T[c] == number ? volume * (T_faces[c] & KEEPS ? flow : conducted) : 0.0;
  });
}

TASK heat_from_immersed_body(Range range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In bond_T, In warm_T,
                             Partial flux, Grid grid, Transport transport, int number) {
  heat_from<CentralMean>(range, T, u, v, w, T_faces, owner_T, bond_T, warm_T, flux, grid, transport.diffusivity, number);
}

TASK bounded_heat_from_immersed_body(Range range, In T, In u, In v, In w, InShort T_faces, InByte owner_T, In bond_T,
                                     In warm_T, Partial flux, Grid grid, Transport transport, int number) {
  heat_from<Limited>(range, T, u, v, w, T_faces, owner_T, bond_T, warm_T, flux, grid, transport.diffusivity, number);
}
