// The momentum equation on the closed faces of stair steps at rest: with the momentum that it takes from the fluid there,
// momentum is balanced to rounding.
#define UZ 1
#include "cell.h"
#include "../adams_bashforth.h"
#include "../friction.h"
#include "../convection.h"
#include "../flags.h"
#include "../lift.h"
#include "stages.h"

FN double operator+(double H, None) { return H; }

// Flux into a closed face (low across a) from its neighbours along b, over viscosity: neighbours in the fluid next to a face
// between two solid cells are half their width from the body
FN double drawn(In q, Index c, Axis b, bool solid_face) {
  const double low = solid_face ? 2.0 * b.per_cell(-1) : double(b.per_face(0));
  const double high = solid_face ? 2.0 * b.per_cell(1) : double(b.per_face(1));
  return b.per_cell() * (low * q[c - b.step] + high * q[c + b.step]);
}

// Eddy flux into a closed face along its normal, from its fluid cell, because nu_t is 0 in solid cells
struct NoEddies {
  INLINE double brought(In, Index, Axis) const { return 0; }
};
struct Eddies {
  In nu_t;
  INLINE double brought(In q, Index c, Axis a) const {
    const double low = a.per_cell(-1) * double(nu_t[c - a.step]), high = a.per_cell() * double(nu_t[c]);
    return 2 * a.per_face() * (high * q[c + a.step] + low * q[c - a.step]);
  }
};

FN NoEddies eddies_of(None) { return {}; }
FN Eddies eddies_of(In nu_t) { return {nu_t}; }

// The tendency of a closed face, which is at rest
template <class Eddies>
FN double tendency(const Component& u, const Component& v, const Component& w, const Cell& c, bool solid_face, const Fluid& fluid,
                   const Convection& convection, const Eddies& eddies) {
  const Axis a = u.axis;
  const In q = u.q;
  const double along = a.per_face() * (a.per_cell(-1) * double(q[c - a.step]) + a.per_cell() * double(q[c + a.step]));
  const double laplacian = along + drawn(q, c, v.axis, solid_face) + drawn(q, c, w.axis, solid_face);
  return fluid.viscosity * laplacian + eddies.brought(q, c, a) + fluid.force[u.number] - advection(convection, c, u, v, w);
}

// On closed faces h = H, and push gains the contribution of H to a stage, and the pressure of the previous stage
TASK push_closed_faces(Range range, In u, In v, In w, In p OPTIONAL(nu_t) OPTIONAL(T), InByte solid, InOut h_u, InOut h_v,
                       InOut h_w, InOut push_x, InOut push_y, InOut push_z, In64 ratio, Grid grid,
                       Fluid fluid OPTIONAL(buoyancy), StagePart stage) {
  STRIDES(range)
  const AdamsBashforth scheme(ratio);
  const Convection convection(grid);
  const auto eddies = eddies_of(nu_t);
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    const auto push = [&](const Component& a, const Component& b, const Component& d, bool on_wall, InOut h, InOut push) {
      const bool here = bits & ITSELF, before = bits & 1 << 2 * a.number;
      if (on_wall || !(here | before)) return;
      const double H = tendency(a, b, d, c, here & before, fluid, convection, eddies) + lift(buoyancy, T, c, a);
      const double pressure = a.axis.per_face() * ((before ? 0.0 : double(p[c - a.axis.step])) - (here ? 0.0 : double(p[c])));
      const real now = real(H), taken = scheme.blend(now, h[c]);
      h[c] = now, push[c] = so_far(push[c], taken, real(pressure), stage);
    };
    if (bits & (ITSELF | 1 | 4 | 16)) {  // few cells: the loads of all others are skipped
      const Component U{u, 0, axis(grid, 0, c.i, X)}, V{v, 1, axis(grid, 1, c.j, Y)}, W{w, 2, axis(grid, 2, c.k, Z)};
      push(U, V, W, c.i == grid.first[0], h_u, push_x);
      push(V, U, W, c.j == grid.first[1], h_v, push_y);
      push(W, U, V, c.k == grid.first[2], h_w, push_z);
    }
  });
}
