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

// The two neighbours of a cell along one direction added up; a wall shows the cell its own value.
FN real neighbours(In p, Index c, Index step, bool low_wall, bool high_wall) {
  const real here = p[c], low = p[c - step], high = p[c + step];
  return (low_wall ? here : low) + (high_wall ? here : high);
}

// a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T), with a = 1 / h^2
FN real around(In p, Cell c, Index X, Index Y, Index Z, const Grid& grid) {
  const real ax = grid.inverse[0] * grid.inverse[0], ay = grid.inverse[1] * grid.inverse[1];
  const real az = grid.inverse[2] * grid.inverse[2];
  const real x = neighbours(p, c, X, c.i == grid.first[0], c.i == grid.last[0]);
  const real y = neighbours(p, c, Y, c.j == grid.first[1], c.j == grid.last[1]);
  const real z = neighbours(p, c, Z, c.k == grid.first[2], c.k == grid.last[2]);
  return ax * x + ay * y + az * z;
}

// p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / diagonal: a sweep towards Laplacian(p) = rhs
TASK jacobi(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) { p_new[c] = (around(p, c, X, Y, Z, grid) - rhs[c]) * grid.relaxation; }, p + Z, rhs, p_new);
}

// p_new = (p + what jacobi makes of it) / 2: the sweep that damps what jacobi only turns over
TASK jacobi_half(Range range, In p, In rhs, Out p_new, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    p_new[c] = real(0.5) * (p[c] + (around(p, c, X, Y, Z, grid) - rhs[c]) * grid.relaxation);
  });
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
  STRIDES(range)
  const real diagonal = 1 / grid.relaxation;
  reduce_cells(range, residual, SUM, CELL(c) {
    const double r = rhs[c] - (around(p, c, X, Y, Z, grid) - diagonal * p[c]);
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
