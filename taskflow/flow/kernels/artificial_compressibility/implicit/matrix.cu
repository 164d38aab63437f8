// The matrix of the residual of first order, |A| and friction across faces frozen: blocks of a cell for itself and its six neighbours.
#define BX 32
#define BY 4
#define RESIDENT (sizeof(REAL) == 4 ? 6 : 3)
#include "cell.h"
#include "../flux.h"
#include "../viscous.h"
#include "../eddies.h"
#include "../rate.h"
#include "matrix.h"
#include "factors.h"

// A block among the factors, from value n on
template <class Stored, int Q = 0>
FN void store(const Stored& stored, const Cell& c, int n, const Block& m) {
  real line[UNKNOWNS];
#pragma unroll
  for (int k = 0; k < UNKNOWNS; ++k) line[k] = m.of[entry(Q, k)];
  stored.store(c, n + UNKNOWNS * Q, line);
  if constexpr (Q < UNKNOWNS - 1) store<Stored, Q + 1>(stored, c, n, m);
}

template <int N>
FN void add_back(Block& m, Vector back) { m.of[at(1, 1 + N)] += back.x, m.of[at(2, 1 + N)] += back.y, m.of[at(3, 1 + N)] += back.z; }

// What passes a face of a scalar; beyond a side it is `still` times that inside.
template <class... Rest>
FN void scalar_face(Block&, Block&, int, None, None, const Rest&...) {}
template <class C, class Swept, class Eddies>
FN void scalar_face(Block& own, Block& other, int row, In T, In still, int kind, const C& c, const Across<Swept>& f, Vector velocities, Eddies nu_t, const Numbers& n) {
  const real conducted = diffusivity_on(nu_t, n, c, f.beyond) * f.conductance;
  const Passage passing = passage(T[c], T[f.beyond], velocities, f.area, conducted, f.swept);
  if (kind == INTERIOR) {
    own.of[at(row, row)] += passing.spread, other.of[at(row, row)] = -passing.spread;
    add_velocity(own, row, passing.by_velocity), add_velocity(other, row, passing.by_velocity);
    return;
  }
  const real spared = 1 - still[f.beyond], coming = kind == CLOSED ? real(0) : passing.spread - conducted;
  own.of[at(row, row)] += (kind == FAR ? coming : real(0.5) * spared * coming) + spared * conducted;
  if (kind == FAR || kind == OPEN) add_velocity(own, row, passing.by_velocity);
}

// The lift of warmer fluid
FN void add_lift(Block&, None, real, const Numbers&) {}
FN void add_lift(Block& m, In, real volume, const Numbers& n) {
  m.of[at(1, 4)] -= volume * n.lift[0], m.of[at(2, 4)] -= volume * n.lift[1], m.of[at(3, 4)] -= volume * n.lift[2];
}

// What a face gives to the block of its cell, and the block for the cell beyond
template <int SIDE, class Scalars, class Geometry, class B, class Swept, class Eddies, class Aperture, class C, class Coupling>
FN void face(const Fields& q, const Scalars& scalars, B b, Swept swept, Eddies nu_t, Aperture aperture, InByte sides, const Geometry& g, const C& c, const Steps& steps,
             const Numbers& n, Block& own, const Coupling& coupling) {
  const auto f = across<SIDE>(g, b, swept, aperture, c, steps, n);
  const Vector s = f.area, u = q.velocity(c), v = q.velocity(f.beyond);
  const real half = real(0.5), friction = viscosity_on(nu_t, n, c, f.beyond) * f.conductance;
  int kind = INTERIOR;
  if constexpr (!C::amid) kind = sides[f.beyond];
  Block other{};
  if (f.shut) {
  } else if (kind == INTERIOR || kind == FAR) {
    add_pressure(own, half, s), add_convection(own, half, u, s, f.swept), add_friction(own, friction);
    add_absolute(own, half, absolute(half * (u + v), s, f.b, f.swept), s, reciprocal(f.b));
    if (kind == INTERIOR) other = coupled(u, v, s, friction, f.b, f.swept);
  } else if (kind == OPEN) {
    const real theta = relative(dot(s, u), f.swept), entering = theta < 0 ? -2 * theta * reciprocal(square(s)) : real(0);
    add_convection(own, 1, u, s, f.swept);
    add_back<0>(own, (entering * s.x) * s), add_back<1>(own, (entering * s.y) * s), add_back<2>(own, (entering * s.z) * s);
  } else {
    add_pressure(own, 1, s), add_friction(own, 2 * friction);
  }
  if (!f.shut) scalars(own, other, kind, c, f, u + v);
  store(coupling, c, block_of(SIDE), other);
}

// The surface of a body in a cell: its pressure and velocity are those of the cell.
FN void adhere(Block&, None, const Cell&, const Numbers&) {}
FN void adhere(Block& m, InWall wall, const Cell& c, const Numbers& n) {
  add_pressure(m, 1, three(wall, c, 0)), add_friction(m, fused(n.viscosity, wall(c, 3), wall(c, 17)));
}

// Cells beside no end of a range: sides lie there alone
FN InteriorAmid within(const Range& r) {
#ifdef PLANAR
  constexpr int z = 0;
#else
  constexpr int z = 1;
#endif
  return {{{r.lo[1] + 1, r.lo[2] + z}, {r.hi[1] - 2, r.hi[2] - 1 - z}, false}, r.lo[0] + 1, r.hi[0] - 2};
}

FN void keep(None, const Cell&, const Block&) {}
template <class Stored, int N = 0>
FN void keep(const Stored& stored, const Cell& c, const Block& m) {
  stored(c, N) = m.of[N];
  if constexpr (N < BLOCK - 1) keep<Stored, N + 1>(stored, c, m);
}

TASK matrix(Range range, In p, In u, In v, In w, InByte sides, In pseudo, OutPrivate<VALUES_coupling_low, Real_coupling_low> coupling_low,
            OutPrivate<VALUES_coupling_high, Real_coupling_high> coupling_high, OutValuesOf<VALUES_pivot, Real_pivot> pivot OPTIONAL(own) OPTIONAL(T)
            OPTIONAL(T_still) OPTIONAL(scalar) OPTIONAL(scalar_still) OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t) OPTIONAL(aperture)
            OPTIONAL(wall) OPTIONAL(fluid) OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const Fields q{p, u, v, w};
  const auto g = geometry(metrics, numbers);
  const auto change = number(rate);
  const auto blocks = [=](const auto& c, const auto& coupling) __attribute__((always_inline)) {
    const auto scalars = [=](Block& own, Block& other, int kind, const auto& c, const auto& f, Vector velocities) __attribute__((always_inline)) {
      scalar_face(own, other, 4, T, T_still, kind, c, f, velocities, nu_t, numbers);
      scalar_face(own, other, 5, scalar, scalar_still, kind, c, f, velocities, nu_t, numbers_of(numbers, 5));
    };
    Block block{};
    block.of[0] = pseudo[c] * reciprocal(compressible(b, numbers, c, c));
    const real all = both(pseudo[c], filled(change, fluid, c), g.volume(c));
    add_friction(block, all);
    for (int row = 4; row < UNKNOWNS; ++row) block.of[at(row, row)] += all;
    add_lift(block, T, g.volume(c), numbers);
    adhere(block, wall, c, numbers);
#define FACE(SIDE) face<SIDE>(q, scalars, b, swept, nu_t, aperture, sides, g, c, steps, numbers, block, coupling)
    FACE(0), FACE(1), FACE(2), FACE(3);
#ifdef PLANAR
    store(coupling, c, block_of(4), Block{}), store(coupling, c, block_of(5), Block{});
#else
    FACE(4), FACE(5);
#endif
    keep(pivot, c, block), keep(own, c, block);
  };
  private_cells<2 * HALF, UNKNOWNS>(range, within(range), halves(coupling_low, coupling_high), blocks);
}
