// Heat beside bodies: none passes into those that are insulated; others have a temperature at their faces, half a cell
// from the centre of the cell beside them.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../flags.h"
#include "carried.h"

// Conduction into a cell through a face behind which heat meets `kind`, over diffusivity / h^2: T_other is the temperature
// there, of the fluid or of a body.
FN real conducted(int kind, real T_here, real T_other) {
  const int weight = kind == 0 ? 1 : kind & HELD;
  return real(weight) * (T_other - T_here);
}

// Net flow out of a cell along one direction: of T carried by q through both faces, and what is conducted into it.
struct Flow {
  real carried, conducted;
};

FN Flow flow(In T, In q, Index c, Index step, real inverse, int kinds) {
  const real below = T[c - step], here = T[c], above = T[c + step];
  const real through = conducted(kinds & 3, here, below) + conducted(kinds >> 2 & 3, here, above);
  return {carried(T, q, c, step, inverse), inverse * inverse * through};
}

// T_new = T + dt ((1 + r/2) H - r/2 H_old), H = -div(u T) + diffusivity Laplacian(T) + source; H replaces H_old.
TASK heat_obstructed(Range range, In T, In u, In v, In w, InShort T_faces, InOut h_T, Out T_new, In64 dt, In64 ratio,
                     Grid grid, Transport transport) {
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);
  for_cells(range, CELL(c) {
    const int kinds = T_faces[c];
    const Flow x = flow(T, u, c, X, grid.inverse[0], kinds), y = flow(T, v, c, Y, grid.inverse[1], kinds >> 4);
    const Flow z = flow(T, w, c, Z, grid.inverse[2], kinds >> 8);
    const real convection = x.carried + y.carried + z.carried, conduction = x.conducted + y.conducted + z.conducted;
    const real H = transport.diffusivity * conduction - convection + transport.source;
    const real old = h_T[c], here = T[c], next = scheme.advance(here, H, old);
    h_T[c] = H;
    T_new[c] = kinds & KEEPS ? here : next;
  });
}
