// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#define ROWS 4
#define BX 256
#define BY 1
#ifdef WHOLE
#define RESIDENT 2
#else
#define RESIDENT (sizeof(Real_coupling_low) == 4 ? 3 : 2)
#endif
#include "cell.h"
#include "factors.h"
#include "sweep_rows.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<16, Real_pivot> pivot, OutPrivate<16, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int q = 0; q < 4; ++q)
      inverse.store_four(c, 4 * q, {pivot(c, entry(q, 0)), pivot(c, entry(q, 1)), pivot(c, entry(q, 2)), pivot(c, entry(q, 3))});
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}

// With the blocks L of earlier neighbours and the pivot D, forward: x = D^-1 (r - sum of L x of theirs); backward: x -= D^-1 (sum of L x of theirs).
// In a tile earlier neighbours lie beyond low sides forward, and beyond high ones (ODD) backward. In each row of a block times z there is
// (m0 z0 + m1 z1) + (m2 z2 + m3 z3).
#ifdef GPU
#include "triangle_cuda.h"
#else
#include "triangle_host.h"
#endif

template <int ODD, class Coupling, class Inverse>
FN Triangle<ODD, Coupling, Inverse> triangle(const Coupling& coupling, const Inverse& inverse, In p_r, In u_r, In v_r, In w_r, InOut p, InOut u, InOut v, InOut w) {
  return {coupling, inverse, {p_r, u_r, v_r, w_r}, {p, u, v, w}};
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r, InPrivate<48, Real_coupling_low> coupling_low, InPrivate<48, Real_coupling_high> coupling_high,
             InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_rows(range, sweep, UP, triangle<0>(halves(coupling_low, coupling_high), inverse, p_r, u_r, v_r, w_r, p, u, v, w));
}

TASK backward(Range range, InPrivate<48, Real_coupling_low> coupling_low, InPrivate<48, Real_coupling_high> coupling_high,
              InPrivate<16, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w, Sweep sweep) {
  sweep_rows(range, sweep, DOWN, triangle<1>(halves(coupling_low, coupling_high), inverse, p, u, v, w, p, u, v, w));
}
