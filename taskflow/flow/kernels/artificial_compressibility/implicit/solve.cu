// The two triangular solves with the factors of invert.cu, and what is done with these before: they are put where solves read them.
#ifdef HEAT
#define ROWS 8
#define BX 512
#else
#define ROWS 4
#define BX 256
#endif
#define BY 1
#if defined(HEAT)
#define RESIDENT 1
#elif defined(WHOLE)
#define RESIDENT 2
#else
#define RESIDENT (sizeof(Real_coupling_low) == 4 ? 3 : 2)
#endif
#include "cell.h"
#include "factors.h"
#include "sweep_rows.h"

// The first cell, numbered so, whose inverse is none
TASK keep_inverse(Range range, InValuesOf<VALUES_pivot, Real_pivot> pivot, OutPrivate<VALUES_inverse, Real_inverse> inverse, Partial cell) {
  reduce_cells(range, cell, MIN, CELL(c) {
    for (int q = 0; q < UNKNOWNS; ++q) {
      real line[UNKNOWNS];
      for (int k = 0; k < UNKNOWNS; ++k) line[k] = pivot(c, entry(q, k));
      inverse.store(c, UNKNOWNS * q, line);
    }
    const double number = (double(c.k) * 1048576 + c.j) * 1048576 + c.i;
    return magnitude(real(pivot(c, 0))) < real(INFINITE) ? INFINITE : number;
  });
}

// With the blocks L of earlier neighbours and the pivot D, forward: x = D^-1 (r - sum of L x of theirs); backward: x -= D^-1 (sum of L x of theirs).
// In a tile earlier neighbours lie beyond low sides forward, and beyond high ones (ODD) backward. In each row of a block times z there is
// (m0 z0 + m1 z1) + (m2 z2 + m3 z3), and then + m4 z4, or (m4 z4 + m5 z5).
#ifdef GPU
#include "triangle_cuda.h"
#else
#include "triangle_host.h"
#endif

template <int ODD, class Coupling, class Inverse>
FN Triangle<ODD, Coupling, Inverse> triangle(const Coupling& coupling, const Inverse& inverse, const Each<In>& right, const Each<InOut>& x) {
  return {coupling, inverse, right, x};
}

TASK forward(Range range, In p_r, In u_r, In v_r, In w_r OPTIONAL(T_r) OPTIONAL(scalar_r), InPrivate<VALUES_coupling_low, Real_coupling_low> coupling_low,
             InPrivate<VALUES_coupling_high, Real_coupling_high> coupling_high, InPrivate<VALUES_inverse, Real_inverse> inverse, InOut p, InOut u, InOut v,
             InOut w OPTIONAL(T) OPTIONAL(scalar), Sweep sweep) {
  const auto right = each<In>(p_r, u_r, v_r, w_r, T_r, scalar_r);
  sweep_rows(range, sweep, UP, triangle<0>(halves(coupling_low, coupling_high), inverse, right, each<InOut>(p, u, v, w, T, scalar)));
}

TASK backward(Range range, InPrivate<VALUES_coupling_low, Real_coupling_low> coupling_low, InPrivate<VALUES_coupling_high, Real_coupling_high> coupling_high,
              InPrivate<VALUES_inverse, Real_inverse> inverse, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(scalar), Sweep sweep) {
  const auto x = each<InOut>(p, u, v, w, T, scalar);
  sweep_rows(range, sweep, DOWN, triangle<1>(halves(coupling_low, coupling_high), inverse, each<In>(p, u, v, w, T, scalar), x));
}
