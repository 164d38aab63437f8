// The matrix of the residual of first order, |A| and friction across faces frozen: blocks of a cell for itself and its six neighbours.
#include "cell.h"
#include "../pace.h"
#include "../viscous.h"
#include "matrix.h"

FN real compressible(None, const Numbers& n, Index, Index) { return n.compressibility; }
FN real compressible(In b, const Numbers&, Index one, Index other) { return real(0.5) * (b[one] + b[other]); }

FN void keep(OutValues<96> coupling, const Cell& c, int side, const Block& m) {
  for (int n = 0; n < 16; ++n) coupling(c, 16 * side + n) = m.of[n];
}
FN void keep(None, const Cell&, const Block&) {}
FN void keep(OutValues<16> pivot, const Cell& c, const Block& m) {
  for (int n = 0; n < 16; ++n) pivot(c, n) = m.of[n];
}

// One face of a cell: the low one across D, or the high one. `beyond` is the next cell's place, s points there.
template <int D, bool HIGHER, class Geometry, class B>
FN void face(const Fields& q, B b, InByte sides, const Geometry& g, const Cell& c, Index A, const Numbers& n, Block& own, OutValues<96> coupling) {
  const Index beyond = HIGHER ? c + A : c - A;
  const Cell f{c.i + (HIGHER && D == 0), c.j + (HIGHER && D == 1), c.k + (HIGHER && D == 2), HIGHER ? beyond : Index(c)};
  const Vector s = real(HIGHER ? 1 : -1) * whole(g.template face<D>(f)), u = q.velocity(c), v = q.velocity(beyond);
  const real friction = n.viscosity * diffusion<D>(g, f).normal, half = real(0.5), here = compressible(b, n, c, beyond);
  const int kind = sides[beyond];
  Block other{};
  if (kind == INTERIOR || kind == FAR) {
    const Absolute a = absolute(half * (u + v), s, here);
    const real inverse = reciprocal(here);
    add_pressure(own, half, s), add_convection(own, half, u, s), add_absolute(own, half, a, s, inverse), add_friction(own, friction);
    if (kind == INTERIOR) {
      add_pressure(other, half, s), add_convection(other, half, v, s);
      add_absolute(other, -half, a, s, inverse), add_friction(other, -friction);
    }
  } else if (kind == OPEN) {
    const real theta = dot(s, u), entering = theta < 0 ? -2 * theta * reciprocal(square(s)) : real(0);
    add_convection(own, 1, u, s);
    for (int m = 0; m < 3; ++m) {
      const Vector back = (entering * part(s, m)) * s;
      own.of[5 + m] += back.x, own.of[9 + m] += back.y, own.of[13 + m] += back.z;
    }
  } else {
    add_pressure(own, 1, s), add_friction(own, 2 * friction);
  }
  keep(coupling, c, 2 * D + HIGHER, other);
}

TASK matrix(Range range, In p, In u, In v, In w, OutValues<96> coupling, OutValues<16> pivot OPTIONAL(own), InByte sides OPTIONAL(metrics) OPTIONAL(b),
            In64 slowness, Numbers numbers) {
  STRIDES(range)
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  const real slow = real(*slowness);
  for_cells(range, CELL(c) {
    const real here = compressible(b, numbers, c, c), rate = slow * per_step(g, c, q.velocity(c), here, numbers);
    Block block{};
    block.of[0] = rate * reciprocal(here);
    add_friction(block, rate);
    face<0, false>(q, b, sides, g, c, X, numbers, block, coupling);
    face<0, true>(q, b, sides, g, c, X, numbers, block, coupling);
    face<1, false>(q, b, sides, g, c, Y, numbers, block, coupling);
    face<1, true>(q, b, sides, g, c, Y, numbers, block, coupling);
#ifdef PLANAR
    keep(coupling, c, 4, Block{}), keep(coupling, c, 5, Block{});
#else
    face<2, false>(q, b, sides, g, c, Z, numbers, block, coupling);
    face<2, true>(q, b, sides, g, c, Z, numbers, block, coupling);
#endif
    keep(pivot, c, block), keep(own, c, block);
  });
}
