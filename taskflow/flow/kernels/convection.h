// The momentum u that the flow carries through the sides of the volume around a face, low (n = 0) or high (1): the flux U q,
// U being the velocity that carries and q the one that is carried. The face is the low one of cell c across the axis of u.
// The schemes return products of sums of two neighbours, of which `of_means` makes the product of their means.
#include "clear.h"
#include "component.h"
#include "choices.h"

FN real of_means(real product_of_sums) { return real(0.25) * product_of_sums; }

// Central differences of second order.
struct Central {
  Central() = default;
  INLINE explicit Central(const Grid&) {}

  // u advected by itself, in the cells before and after the face
  INLINE real along(const Cell& c, const Component& u, int n) const {
    const Index A = u.axis.step, at = c + n * A;
    const real speed = u.q[at - A] + u.q[at];
    return speed * speed;
  }
  // u by v, on the edges across the axis of v
  INLINE real across(const Cell& c, const Component& u, const Component& v, int n) const {
    const Index A = u.axis.step, B = v.axis.step, at = c + n * B;
    return u.axis.twice_mean(v.q[at - A], v.q[at]) * (u.q[at - B] + u.q[at]);
  }
};

// The same with values that are biased upwind (QUICK, Leonard 1979): on the parabola through both neighbours and the one
// before that which the flow comes from; on the line between the two where that would reach beyond a boundary further than
// the ghost values, and on boundaries.
struct Upwind {
  int first[3], last[3];  // the cells adjacent to boundaries

  INLINE explicit Upwind(const Grid& g)
      : first{g.first[0], g.first[1], g.first[2]}, last{g.last[0], g.last[1], g.last[2]} {}

  static INLINE Row row(In q, Index at, Index step, bool forward) {
    const real low = q[at - step], high = q[at];
    return {forward ? q[at - 2 * step] : q[at + step], forward ? low : high, forward ? high : low};
  }
  // Twice q, from twice the linear value and eight times the correction of the parabola
  static INLINE real biased(real line, bool reaches, real bent) {
    constexpr real TWICE_OF_EIGHT = real(2.0 / 8);
    return line - taken(reaches, TWICE_OF_EIGHT * bent);
  }

  template <class C>
  INLINE real along(const C& c, const Component& u, int n) const {
    const Index A = u.axis.step, at = c + n * A;
    const int a = u.number, cell = index(c, a) + n - 1;
    const real speed = u.q[at - A] + u.q[at];
    const bool forward = speed > 0, reaches = C::amid || !is_either(forward, cell, first[a], last[a]);
    return speed * biased(speed, reaches, u.axis.curvature_in_cell(row(u.q, at, A, forward), forward, n - 1));
  }
  template <class C>
  INLINE real across(const C& c, const Component& u, const Component& v, int n) const {
    const Index A = u.axis.step, B = v.axis.step, at = c + n * B;
    const int b = v.number, face = index(c, b) + n;
    const real speed = u.axis.twice_mean(v.q[at - A], v.q[at]);
    const bool forward = speed > 0, reaches = C::amid || ((face != first[b]) & (face != last[b] + 1));
    const real line = v.axis.twice_between(u.q[at - B], u.q[at], n);
    return speed * biased(line, reaches, v.axis.curvature_on_face(row(u.q, at, B, forward), forward, n));
  }
};

// div(u u) on the face: the net flux of u out of the volume around it; v and w are the other components.
template <class Scheme, class C>
FN real advection(const Scheme& scheme, const C& c, const Component& u, const Component& v, const Component& w) {
  return of_means(u.axis.per_face() * (scheme.along(c, u, 1) - scheme.along(c, u, 0)) +
                  v.axis.per_cell() * (scheme.across(c, u, v, 1) - scheme.across(c, u, v, 0)) +
                  w.axis.per_cell() * (scheme.across(c, u, w, 1) - scheme.across(c, u, w, 0)));
}

// f(cell) for every cell; without the limits at boundaries where there are none
template <class F, class... Streams>
FN void visit(const Range& range, const Central&, const Grid&, F f, Streams... streams) {
  for_cells(range, f, streams...);
}
template <class F, class... Streams>
FN void visit(const Range& range, const Upwind&, const Grid& grid, F f, Streams... streams) {
  split_rows(range, clear_of_boundaries(grid), f, streams...);
}

#ifdef QUICK
using Convection = Upwind;
#else
using Convection = Central;
#endif
