// What all six faces of a cell do to it: the residual of continuity, momentum and heat.
#include "flux.h"
#include "viscous.h"

// Out of a cell: what is carried and what friction and the scheme add, apart
struct Balance {
  State carried, added;
  real heat;
};

FN real compressibility(None, const Numbers& n, Index, Index) { return n.compressibility; }
FN real compressibility(In b, const Numbers&, Index one, Index other) { return real(0.5) * (b[one] + b[other]); }

// Heat through a face of which a mass flux is known: carried from the upwind side, conducted
template <int D, int M, class C, class Conduction>
FN real heat_through(None, real, const Conduction&, InByte, const C&, const Steps&, const Numbers&) { return 0; }
template <int D, int M, class C, class Conduction>
FN real heat_through(In T, real mass, const Conduction& conduct, InByte sides, const C& c, const Steps& steps, const Numbers& n) {
  const Index A = steps.of<D>(), at = Index(c) + M * A;
  const int kind = side_of<M>(sides, c, A);
  const real b = T[at - A], h = T[at], mean = real(0.5) * (b + h);
#ifdef PRESSURE_DAMPING
  const real carried = selected(kind == FAR, mass > 0 ? b : h, mean);
#else
  const Sides inside = limited(T[at - 2 * A], b, h, T[at + A]);
  const real within = mass > 0 ? inside.low : inside.high, far = mass > 0 ? b : h;
  const real carried = selected(kind == INTERIOR, within, selected(kind == FAR, far, mean));
#endif
  return mass * carried - n.diffusivity * conduct(T, at, steps);
}

template <int D, int M, class C, class Geometry, class B, class Heat>
FN Balance face_of(const Fields& q, Heat T, const Geometry& g, InByte sides, B b, const C& c, const Steps& steps, const Numbers& n) {
  const Index A = steps.of<D>(), at = Index(c) + M * A;
  const Flux flux = through<D, M>(q, g, sides, c, steps, compressibility(b, n, at - A, at), n);
  const auto conduct = diffusion<D, M>(g, c);
  const Vector friction{conduct(q.u, at, steps), conduct(q.v, at, steps), conduct(q.w, at, steps)};
  const real mass = flux.carried.p + flux.added.p;
  return {flux.carried, {flux.added.p, plus(flux.added.u, -n.viscosity, friction)}, heat_through<D, M>(T, mass, conduct, sides, c, steps, n)};
}

#ifndef GPU
// Of the few outermost cells a function that is called: the compiler would take minutes for twelve faces in a row.
template <int D, int M, class Geometry, class B, class Heat>
static __attribute__((noinline)) Balance face_of(const Fields& q, Heat T, const Geometry& g, InByte sides, B b, const Outermost& c,
                                                 const Steps& steps, const Numbers& n) {
  return face_of<D, M, Outermost>(q, T, g, sides, b, c, steps, n);
}
#endif

FN Balance operator-(const Balance& a, const Balance& b) { return {a.carried - b.carried, a.added - b.added, a.heat - b.heat}; }
FN Balance operator+(const Balance& a, const Balance& b) { return {a.carried + b.carried, a.added + b.added, a.heat + b.heat}; }

template <int D, class C, class Geometry, class B, class Heat>
FN Balance along_line(const Fields& q, Heat T, const Geometry& g, InByte sides, B b, const C& c, const Steps& steps, const Numbers& n) {
  return face_of<D, 1>(q, T, g, sides, b, c, steps, n) - face_of<D, 0>(q, T, g, sides, b, c, steps, n);
}

template <class C, class Geometry, class B, class Heat>
FN Balance balance(const Fields& q, Heat T, const Geometry& g, InByte sides, B b, const C& c, const Steps& steps, const Numbers& n) {
  const Balance plane = along_line<0>(q, T, g, sides, b, c, steps, n) + along_line<1>(q, T, g, sides, b, c, steps, n);
#ifdef PLANAR
  return plane;
#else
  return plane + along_line<2>(q, T, g, sides, b, c, steps, n);
#endif
}

// Forces per mass: one everywhere, one of each cell, and the lift of warm fluid
FN Vector pushed(None, None, None, Index, const Numbers& n) { return {n.force[0], n.force[1], n.force[2]}; }
FN Vector pushed(In x, In y, In z, Index c, const Numbers& n) { return {n.force[0] + x[c], n.force[1] + y[c], n.force[2] + z[c]}; }
FN Vector lifted(Vector force, None, Index, const Numbers&) { return force; }
FN Vector lifted(Vector force, In T, Index c, const Numbers& n) {
  const real warm = T[c] - n.reference;
  return {force.x + n.lift[0] * warm, force.y + n.lift[1] * warm, force.z + n.lift[2] * warm};
}
