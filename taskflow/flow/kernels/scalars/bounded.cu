// What an incompressible flow carries, kept within its bounds: upwind-biased values on faces, with Koren's limiter.
#define UZ 1
#define PLANES 1
#include "cell.h"
#include "../flags.h"
#include "../metrics.h"
#include "diffusivity.h"
#include "limited.h"

// What enters a cell along d; `kinds` are those behind its low and its high face.
template <class Diffusivity>
FN real inflow(In q, Index c, int n, const Direction& d, const Grid& grid, const Diffusivity& by, int kinds) {
  const Axis a = axis(grid, d.number, n, d.step);
  const int behind_low = kinds & 3, behind_high = kinds >> 2 & 3;
  const real low = passing(q, c, n, d, behind_low ? a.per_cell() : a.per_face(), by, behind_low);
  return a.per_cell() * (low - passing(q, c + d.step, n + 1, d, behind_high ? a.per_cell() : a.per_face(1), by, behind_high));
}

// What lies behind the faces of a cell: fluid everywhere, or what flags say.
struct Free {
  INLINE int at(Index) const { return 0; }
};
struct Obstructed {
  InShort faces;
  INLINE int at(Index c) const { return faces[c]; }
};

// The velocities before and after a stage.
struct Velocity {
  In u, v, w, u_new, v_new, w_new;
};

// -div(u q) + diffusion + source
template <class Diffusivity>
struct Tendency {
  Direction x, y, z;
  Grid grid;
  real source;
  Diffusivity by;

  INLINE Tendency(const Range& range, const Velocity& v, const Grid& g, const Transport& transport, Diffusivity by)
      : x{0, 1, g.first[0], g.last[0], v.u, v.u_new},
        y{1, range.y, g.first[1], g.last[1], v.v, v.v_new},
        z{2, range.z, g.first[2], g.last[2], v.w, v.w_new},
        grid(g),
        source(transport.source),
        by(by) {}

  INLINE real at(In q, const Cell& c, int kinds) const {
    return inflow(q, c, c.i, x, grid, by, kinds) + inflow(q, c, c.j, y, grid, by, kinds >> 4) +
           inflow(q, c, c.k, z, grid, by, kinds >> 8) + source;
  }
};

// q_new = q + dt H(q); solid cells keep theirs.
template <class Tendency, class Bodies>
FN void euler(const Range& range, In q, Out q_new, In64 dt, Tendency H, Bodies bodies) {
  const real step = real(*dt);
  for_cells(range, CELL(c) {
    const int kinds = bodies.at(c);
    const real here = q[c], next = here + step * H.at(q, c, kinds);
    q_new[c] = kinds & KEEPS ? here : next;
  });
}

// q = (q + q_euler + dt H(q_euler)) / 2; solid cells keep theirs.
template <class Tendency, class Bodies>
FN void heun(const Range& range, InOut q, In q_euler, In64 dt, Tendency H, Bodies bodies) {
  const real step = real(*dt);
  for_cells(range, CELL(c) {
    const int kinds = bodies.at(c);
    const real here = q[c], next = real(0.5) * (here + (q_euler[c] + step * H.at(q_euler, c, kinds)));
    q[c] = kinds & KEEPS ? here : next;
  });
}

TASK bounded_euler(Range range, In q, In u, In v, In w, In u_new, In v_new, In w_new, Out q_new, In64 dt, Grid grid,
                   Transport transport) {
  const Tendency H(range, {u, v, w, u_new, v_new, w_new}, grid, transport, Even{transport.diffusivity});
  euler(range, q, q_new, dt, H, Free{});
}

TASK bounded_heun(Range range, InOut q, In q_euler, In u, In v, In w, In u_new, In v_new, In w_new, In64 dt, Grid grid,
                  Transport transport) {
  const Tendency H(range, {u, v, w, u_new, v_new, w_new}, grid, transport, Even{transport.diffusivity});
  heun(range, q, q_euler, dt, H, Free{});
}

TASK bounded_euler_obstructed(Range range, In q, In u, In v, In w, In u_new, In v_new, In w_new, InShort q_faces, Out q_new,
                              In64 dt, Grid grid, Transport transport) {
  const Tendency H(range, {u, v, w, u_new, v_new, w_new}, grid, transport, Even{transport.diffusivity});
  euler(range, q, q_new, dt, H, Obstructed{q_faces});
}

TASK bounded_heun_obstructed(Range range, InOut q, In q_euler, In u, In v, In w, In u_new, In v_new, In w_new,
                             InShort q_faces, In64 dt, Grid grid, Transport transport) {
  const Tendency H(range, {u, v, w, u_new, v_new, w_new}, grid, transport, Even{transport.diffusivity});
  heun(range, q, q_euler, dt, H, Obstructed{q_faces});
}

TASK bounded_euler_eddy(Range range, In q, In u, In v, In w, In u_new, In v_new, In w_new, In nu_t, Out q_new, In64 dt,
                        Grid grid, Transport transport, real prandtl) {
  const Stirred by{transport.diffusivity, real(0.5) / prandtl, nu_t};
  euler(range, q, q_new, dt, Tendency(range, {u, v, w, u_new, v_new, w_new}, grid, transport, by), Free{});
}

TASK bounded_heun_eddy(Range range, InOut q, In q_euler, In u, In v, In w, In u_new, In v_new, In w_new, In nu_t, In64 dt,
                       Grid grid, Transport transport, real prandtl) {
  const Stirred by{transport.diffusivity, real(0.5) / prandtl, nu_t};
  heun(range, q, q_euler, dt, Tendency(range, {u, v, w, u_new, v_new, w_new}, grid, transport, by), Free{});
}

TASK bounded_euler_eddy_obstructed(Range range, In q, In u, In v, In w, In u_new, In v_new, In w_new, In nu_t,
                                   InShort q_faces, Out q_new, In64 dt, Grid grid, Transport transport, real prandtl) {
  const Stirred by{transport.diffusivity, real(0.5) / prandtl, nu_t};
  euler(range, q, q_new, dt, Tendency(range, {u, v, w, u_new, v_new, w_new}, grid, transport, by), Obstructed{q_faces});
}

TASK bounded_heun_eddy_obstructed(Range range, InOut q, In q_euler, In u, In v, In w, In u_new, In v_new, In w_new, In nu_t,
                                  InShort q_faces, In64 dt, Grid grid, Transport transport, real prandtl) {
  const Stirred by{transport.diffusivity, real(0.5) / prandtl, nu_t};
  heun(range, q, q_euler, dt, Tendency(range, {u, v, w, u_new, v_new, w_new}, grid, transport, by), Obstructed{q_faces});
}
