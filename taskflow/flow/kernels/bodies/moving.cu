// Effect of moving bodies on the adjacent velocity: see taskflow/flow/bodies/moving.py. Arrays of the geometry at the beginning
// of the step are called before.
#define UZ 1
#define BX 512
#define BY 1
#include "cell.h"
#include "../flags.h"
#include "surfaces.h"

// A velocity relative to bodies
struct Relative {
  In q, body;
  INLINE real operator[](Index c) const { return q[c] - body[c]; }
};
using Before = SurfaceIn<Relative>;

// One component on the low face of a cell: its velocity before the step, its tendency, and which faces are closed then and now
struct Face {
  In q, h;
  bool closed_before, closed;
};
// The surface at the end of the step: the velocity of the body on the face, and its friction and blockage
struct Now {
  real body, friction, blockage;
};
struct Moved {
  real velocity, push;
};

FN Moved moved(real q_new, Index c, const Face& face, const Before& before, const Now& now, const Way& a, const Way& b,
               const Way& d, real step, real viscosity, real slope) {
  const real drag = step * viscosity, open = 1 / (1 + now.blockage), shut = 1 - open;
  const real left = 1 / (1 + drag * (now.friction + shut * spread(a, b, d)));
  const real predicted = face.closed_before ? face.q[c] + step * face.h[c] : q_new;  // a step of Euler's where fluid is new
  const real in_centre = predicted + before.missing(c) + drag * before.brought(c, a, b, d);
  const real q = face.closed ? now.body : now.body + (open * left) * (in_centre - slope - now.body) + slope;
  return {q, (q_new - q) / step};
}

// u_new = u_b on closed faces, and the effect of surfaces on others; push = momentum taken by bodies, per time.
TASK move_with_bodies(Range range, In u, In v, In w, In h_u, In h_v, In h_w, InOut u_new, InOut v_new, InOut w_new, Out push_x,
                      Out push_y, Out push_z, In p, InByte solid, InByte solid_before, In friction_x, In friction_y,
                      In friction_z, In blockage_x, In blockage_y, In blockage_z, In body_x, In body_y, In body_z,
                      In blockage_x_before, In blockage_y_before, In blockage_z_before, In body_x_before, In body_y_before,
                      In body_z_before, In64 dt, Grid grid, real viscosity) {
  STRIDES(range)
  const real step = real(*dt);
  const Before at_x{{u, body_x_before}, friction_x, blockage_x_before}, at_y{{v, body_y_before}, friction_y, blockage_y_before};
  const Before at_z{{w, body_z_before}, friction_z, blockage_z_before};
  for_cells(range, CELL(c) {
    const int bits = solid[c], old = solid_before[c];
    real push[3] = {0, 0, 0};
    if ((bits | old) & BESIDE) {
      Moved x_next{u_new[c], 0}, y_next{v_new[c], 0}, z_next{w_new[c], 0};
      const Way x = way(grid, 0, c.i, X), y = way(grid, 1, c.j, Y), z = way(grid, 2, c.k, Z);
      const real here = p[c], px = step * x.axis.per_face() * (here - p[c - X]);
      const real py = step * y.axis.per_face() * (here - p[c - Y]), pz = step * z.axis.per_face() * (here - p[c - Z]);
      const Face of_x{u, h_u, closed(old, 0), closed(bits, 0)}, of_y{v, h_v, closed(old, 2), closed(bits, 2)};
      const Face of_z{w, h_w, closed(old, 4), closed(bits, 4)};
      const Now now_x{body_x[c], friction_x[c], blockage_x[c]}, now_y{body_y[c], friction_y[c], blockage_y[c]};
      const Now now_z{body_z[c], friction_z[c], blockage_z[c]};
      if (!x.first) x_next = moved(x_next.velocity, c, of_x, at_x, now_x, x, y, z, step, viscosity, px);
      if (!y.first) y_next = moved(y_next.velocity, c, of_y, at_y, now_y, y, x, z, step, viscosity, py);
      if (!z.first) z_next = moved(z_next.velocity, c, of_z, at_z, now_z, z, x, y, step, viscosity, pz);
      u_new[c] = x_next.velocity, v_new[c] = y_next.velocity, w_new[c] = z_next.velocity;
      push[0] = x_next.push, push[1] = y_next.push, push[2] = z_next.push;
    }
    push_x[c] = push[0], push_y[c] = push[1], push_z[c] = push[2];
  });
}

// u = u_b on closed faces, except on walls.
TASK follow_bodies(Range range, InOut u, InOut v, InOut w, InByte solid, In body_x, In body_y, In body_z, Grid grid) {
  for_cells(range, CELL(c) {
    const int bits = solid[c];
    const real u_old = u[c], v_old = v[c], w_old = w[c];
    u[c] = closed(bits, 0) & (c.i != grid.first[0]) ? body_x[c] : u_old;
    v[c] = closed(bits, 2) & (c.j != grid.first[1]) ? body_y[c] : v_old;
    w[c] = closed(bits, 4) & (c.k != grid.first[2]) ? body_z[c] : w_old;
  });
}

// mean = mean of p over neighbours that were fluid, or p without such neighbours
TASK pressure_beside(Range range, In p, InByte solid_before, Out mean) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    real sum = 0, count = 0;
    const auto add = [&](Index at) {
      const bool fluid = !(solid_before[at] & ITSELF);
      sum += fluid ? p[at] : real(0), count += fluid ? real(1) : real(0);
    };
    add(c - X), add(c + X), add(c - Y), add(c + Y), add(c - Z), add(c + Z);
    mean[c] = count > 0 ? sum / count : p[c];
  });
}

// p = mean in cells that were solid and are not any more
TASK fill_pressure(Range range, InOut p, In mean, InByte solid, InByte solid_before) {
  for_cells(range, CELL(c) {
    const real old = p[c];
    p[c] = (solid_before[c] & ITSELF) && !(solid[c] & ITSELF) ? mean[c] : old;
  });
}
