// The projection: the pressure whose gradient makes the velocity free of divergence, by Jacobi's iteration. Across
// walls the pressure has no gradient: there the neighbour is replaced by the cell itself, and what lies beyond is never
// used.
#define UZ 8
#include "cell.h"

FN real difference(In q, Index c, Index step, real inverse) { return inverse * (q[c + step] - q[c]); }

// rhs = div(u) / dt
TASK divergence(Range range, In u, In v, In w, Out rhs, In64 dt, Grid grid) {
  STRIDES(range)
  const real rate = real(1.0 / *dt);
  for_cells(range, CELL(c) {
    rhs[c] = rate * (difference(u, c, X, grid.inverse[0]) + difference(v, c, Y, grid.inverse[1]) +
                     difference(w, c, Z, grid.inverse[2]));
  });
}

FN Walls walls_of(const Grid& g) {
  return {{g.first[0], g.first[1], g.first[2]}, {g.last[0], g.last[1], g.last[2]}};
}

// a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T), with a = 1 / h^2
template <class WalledCell>
FN real around(In p, WalledCell c, const Grid& grid) {
  const real ax = grid.inverse[0] * grid.inverse[0], ay = grid.inverse[1] * grid.inverse[1];
  const real az = grid.inverse[2] * grid.inverse[2];
  return ax * (c.west(p) + c.east(p)) + ay * (c.south(p) + c.north(p)) + az * (c.bottom(p) + c.top(p));
}

// p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: a sweep towards Laplacian(p) = rhs
TASK jacobi(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, walls_of(grid), CELL(c) { p_new[c] = (around(p, c, grid) - rhs[c]) * grid.relaxation; },
            p + Z, rhs, p_new);
}

// p_new = (p + what jacobi makes of it) / 2: the sweep that damps what jacobi only turns over
TASK jacobi_half(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, walls_of(grid), CELL(c) {
    p_new[c] = real(0.5) * (p[c] + (around(p, c, grid) - rhs[c]) * grid.relaxation);
  }, p + Z, rhs, p_new);
}

// u = u - dt grad(p), in place; faces that lie on a wall keep their velocity.
TASK correct(Range range, InOut u, InOut v, InOut w, In p, In64 dt, Grid grid) {
  STRIDES(range)
  const real step = real(*dt);
  const real x = step * grid.inverse[0], y = step * grid.inverse[1], z = step * grid.inverse[2];
  for_cells(range, CELL(c) {
    const real here = p[c], u_old = u[c], v_old = v[c], w_old = w[c];
    const real u_next = u_old - x * (here - p[c - X]);
    const real v_next = v_old - y * (here - p[c - Y]);
    const real w_next = w_old - z * (here - p[c - Z]);
    u[c] = c.i == grid.first[0] ? u_old : u_next;
    v[c] = c.j == grid.first[1] ? v_old : v_next;
    w[c] = c.k == grid.first[2] ? w_old : w_next;
  });
}

// residual = sum of (rhs - Laplacian(p))^2
TASK residual_square(Range range, In p, In rhs, Partial residual, Grid grid) {
  const real diagonal = 1 / grid.relaxation;
  const Walls walls = walls_of(grid);
  reduce_cells(range, residual, SUM, CELL(c) {
    const double r = rhs[c] - (around(p, between(walls, c, range), grid) - diagonal * p[c]);
    return r * r;
  });
}

// norm = sum of rhs^2
TASK rhs_square(Range range, In rhs, Partial norm) {
  reduce_cells(range, norm, SUM, CELL(c) {
    const double r = rhs[c];
    return r * r;
  });
}
