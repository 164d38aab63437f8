// The matrix of the residual of first order, |A| and friction across faces frozen: blocks of a cell for itself and its six neighbours.
#define BX 32
#define BY 4
#include "cell.h"
#include "../pace.h"
#include "../viscous.h"
#include "../rate.h"
#include "matrix.h"
#include "factors.h"

// What a face gives to the block of its cell, and the block for the cell beyond
template <int SIDE, class Geometry, class B, class Swept, class Eddies, class Coupling>
FN void face(const Fields& q, B b, Swept swept, Eddies nu_t, InByte sides, const Geometry& g, const Cell& c, const Steps& steps, const Numbers& n, Block& own,
             const Coupling& coupling) {
  const auto f = across<SIDE>(g, b, swept, c, steps, n);
  const Vector s = f.area, u = q.velocity(c), v = q.velocity(f.beyond);
  const real half = real(0.5), friction = viscosity_on(nu_t, n, c, f.beyond) * f.conductance;
  const int kind = sides[f.beyond];
  Block other{};
  if (kind == INTERIOR || kind == FAR) {
    add_pressure(own, half, s), add_convection(own, half, u, s, f.swept), add_friction(own, friction);
    add_absolute(own, half, absolute(half * (u + v), s, f.b, f.swept), s, reciprocal(f.b));
    if (kind == INTERIOR) other = coupled(u, v, s, friction, f.b, f.swept);
  } else if (kind == OPEN) {
    const real theta = relative(dot(s, u), f.swept), entering = theta < 0 ? -2 * theta * reciprocal(square(s)) : real(0);
    add_convection(own, 1, u, s, f.swept);
    for (int m = 0; m < 3; ++m) {
      const Vector back = (entering * part(s, m)) * s;
      own.of[5 + m] += back.x, own.of[9 + m] += back.y, own.of[13 + m] += back.z;
    }
  } else {
    add_pressure(own, 1, s), add_friction(own, 2 * friction);
  }
  store(coupling, c, block_of(SIDE), other);
}

FN void keep(None, const Cell&, const Block&) {}
template <class Stored>
FN void keep(const Stored& stored, const Cell& c, const Block& m) {
  for (int n = 0; n < 16; ++n) stored(c, n) = m.of[n];
}

TASK matrix(Range range, In p, In u, In v, In w, OutPrivate<96, Real_coupling> coupling, OutValuesOf<16, Real_pivot> pivot OPTIONAL(own),
            InByte sides OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t), In64 slowness OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  const real slow = real(*slowness);
  const auto change = number(rate);
  for_cells(range, CELL(c) {
#ifndef GPU
    asm volatile("" ::: "memory");  // a cell at a time: vectors of so many stores take GCC minutes to find
#endif
    const real here = compressible(b, numbers, c, c), pseudo = slow * per_step(g, c, q.velocity(c), here, numbers, swept, nu_t, steps);
    Block block{};
    block.of[0] = pseudo * reciprocal(here);
    add_friction(block, both(pseudo, change, g.volume(c)));
    face<0>(q, b, swept, nu_t, sides, g, c, steps, numbers, block, coupling), face<1>(q, b, swept, nu_t, sides, g, c, steps, numbers, block, coupling);
    face<2>(q, b, swept, nu_t, sides, g, c, steps, numbers, block, coupling), face<3>(q, b, swept, nu_t, sides, g, c, steps, numbers, block, coupling);
#ifdef PLANAR
    store(coupling, c, block_of(4), Block{}), store(coupling, c, block_of(5), Block{});
#else
    face<4>(q, b, swept, nu_t, sides, g, c, steps, numbers, block, coupling), face<5>(q, b, swept, nu_t, sides, g, c, steps, numbers, block, coupling);
#endif
    keep(pivot, c, block), keep(own, c, block);
  });
}
