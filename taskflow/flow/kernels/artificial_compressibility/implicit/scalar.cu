// What the flow carries in the linear equations: the matrix of first order of a scalar, its factors, and their solves. The mass
// fluxes are those of means over faces, and T is taken from where they come.
#define BX 64
#define BY 1
#include "cell.h"
#include "../flux.h"
#include "../viscous.h"
#include "../eddies.h"
#include "../rate.h"
#include "matrix.h"

struct Gate {
  real outwards, conducted;
};
template <class Swept, class Eddies>
FN Gate gate(const Across<Swept>& f, In u, In v, In w, Eddies nu_t, Index c, const Numbers& n) {
  const Vector mean{u[c] + u[f.beyond], v[c] + v[f.beyond], w[c] + w[f.beyond]};
  return {relative(real(0.5) * dot(f.area, mean), f.swept), diffusivity_on(nu_t, n, c, f.beyond) * f.conductance};
}

// What a face gives to a cell's own coefficient; T beyond a side is `T` times that inside.
template <int SIDE, class Geometry, class B, class Swept, class Eddies, class Carry>
FN real give(In u, In v, In w, In T, B b, Swept field, Eddies nu_t, InByte sides, const Geometry& g, const Cell& c, const Steps& steps, const Numbers& n,
             const Carry& carry) {
  const auto f = across<SIDE>(g, b, field, None{}, c, steps, n);
  const Gate face = gate(f, u, v, w, nu_t, c, n);
  const int kind = sides[f.beyond];
  const real coming = kind == CLOSED ? real(0) : least_zero(-face.outwards), spared = 1 - T[f.beyond];
  carry(c, SIDE) = kind == INTERIOR ? -(coming + face.conducted) : real(0);
  if (kind == INTERIOR) return coming + face.conducted;
  return (kind == FAR ? coming : real(0.5) * spared * coming) + spared * face.conducted;
}

TASK scalar_matrix(Range range, In u, In v, In w, In T, OutPrivate<7, Real_carry> carry, Out pivot, In pseudo, InByte sides OPTIONAL(metrics)
                   OPTIONAL(swept) OPTIONAL(b) OPTIONAL(nu_t) OPTIONAL(rate), Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const auto g = geometry(metrics, numbers);
  const auto change = number(rate);
  for_cells(range, CELL(c) {
    real own = both(pseudo[c], change, g.volume(c));
    own += give<0>(u, v, w, T, b, swept, nu_t, sides, g, c, steps, numbers, carry) + give<1>(u, v, w, T, b, swept, nu_t, sides, g, c, steps, numbers, carry);
    own += give<2>(u, v, w, T, b, swept, nu_t, sides, g, c, steps, numbers, carry) + give<3>(u, v, w, T, b, swept, nu_t, sides, g, c, steps, numbers, carry);
#ifdef PLANAR
    carry(c, 4) = 0, carry(c, 5) = 0;
#else
    own += give<4>(u, v, w, T, b, swept, nu_t, sides, g, c, steps, numbers, carry) + give<5>(u, v, w, T, b, swept, nu_t, sides, g, c, steps, numbers, carry);
#endif
    carry(c, 6) = own, pivot[c] = own;
  });
}

// A(here, there) D(there)^-1 A(there, here)
template <int SIDE, class Geometry, class B, class Swept, class Eddies, class Carry>
FN real eliminated(In u, In v, In w, B b, Swept field, Eddies nu_t, const Geometry& g, const SweptCell& c, const Steps& steps, const Carry& carry, In pivot,
                   const Numbers& n) {
  if (!earlier(c, SIDE)) return 0;
  const auto f = across<SIDE>(g, b, field, None{}, c, steps, n);
  const Gate face = gate(f, u, v, w, nu_t, c, n);
  return carry(c, SIDE) * pivot[f.beyond] * -(least_zero(face.outwards) + face.conducted);
}

TASK scalar_invert(Range range, In u, In v, In w, InPrivate<7, Real_carry> carry, InOut pivot OPTIONAL(metrics) OPTIONAL(swept) OPTIONAL(b)
                   OPTIONAL(nu_t), Sweep sweep, Numbers numbers) {
  STRIDES(range)
  const Steps steps{X, Y, Z};
  const auto g = geometry(metrics, numbers);
  sweep_cells(range, sweep, UP, CELL(c) {
    real d = pivot[c];
    d -= eliminated<0>(u, v, w, b, swept, nu_t, g, c, steps, carry, pivot, numbers) + eliminated<1>(u, v, w, b, swept, nu_t, g, c, steps, carry, pivot, numbers);
    d -= eliminated<2>(u, v, w, b, swept, nu_t, g, c, steps, carry, pivot, numbers) + eliminated<3>(u, v, w, b, swept, nu_t, g, c, steps, carry, pivot, numbers);
#ifndef PLANAR
    d -= eliminated<4>(u, v, w, b, swept, nu_t, g, c, steps, carry, pivot, numbers) + eliminated<5>(u, v, w, b, swept, nu_t, g, c, steps, carry, pivot, numbers);
#endif
    pivot[c] = 1 / d;
  });
}

// The sum over earlier neighbours of A q
template <class Carry>
FN real from_earlier(const Carry& carry, const SweptCell& c, In q, const Range& range) {
  real sum = 0;
  for (int side = 0; side < 6; ++side)
    if (earlier(c, side)) sum += carry(c, side) * q[c + beyond(range, side)];
  return sum;
}

TASK scalar_forward(Range range, In right, InPrivate<7, Real_carry> carry, InOf<Real_pivot> pivot, InOut z, Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) { z[c] = pivot[c] * (right[c] - from_earlier(carry, c, z, range)); });
}

TASK scalar_backward(Range range, InPrivate<7, Real_carry> carry, InOf<Real_pivot> pivot, InOut z, Sweep sweep) {
  sweep_cells(range, sweep, DOWN, CELL(c) { z[c] -= pivot[c] * from_earlier(carry, c, z, range); });
}
