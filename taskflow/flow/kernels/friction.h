// Friction between layers of fluid: what viscosity adds to the momentum of u on the low face of cell c across its axis.
#include "component.h"
#include "implicit.h"

// One viscosity everywhere: viscosity Laplacian(u), without its part along the direction that is implicit
struct Molecular {
  real viscosity;

  INLINE real at(Index c, const Component& u, const Component& v, const Component& w) const {
    const Index A = u.axis.step, B = v.axis.step, D = w.axis.step;
    const In q = u.q;
    const real two = 2 * q[c];
    const real along = u.number == IMPLICIT ? real(0) : u.axis.second_derivative_on_face(q[c - A], two, q[c + A]);
    const real first = v.number == IMPLICIT ? real(0) : v.axis.second_derivative_in_cell(q[c - B], two, q[c + B]);
    const real second = w.number == IMPLICIT ? real(0) : w.axis.second_derivative_in_cell(q[c - D], two, q[c + D]);
    const real laplacian = along + first + second;
    return viscosity * laplacian;
  }
};

// Which edges of a face touch a body: none, or those that four bits of its flags say, low and high across both other axes.
struct NoneTouches {
  INLINE bool touch(Index, const Component&, const Component&, int) const { return false; }
};
struct Touching {
  InShort flags;
  INLINE bool touch(Index c, const Component& u, const Component& v, int n) const {
    const bool second = v.number == (u.number == 2 ? 1 : 2);
    return (flags[c] >> (4 * u.number + 2 * second + n) & 1) != 0;
  }
};

// With an eddy viscosity in cells: div(nu (grad u + grad u^T)), nu = viscosity + nu_t, but viscosity on edges that touch a
// body. Sides are low (n = 0) or high (1).
template <class Edges>
struct Stress {
  real viscosity;
  In nu_t;
  Edges edges;

  // nu du/da in the cells before and behind the face
  INLINE real along(Index c, const Component& u, int n) const {
    const Index A = u.axis.step, at = c + n * A;
    return (viscosity + nu_t[at - A]) * (u.axis.gradient_in_cell(n - 1) * (u.q[at] - u.q[at - A]));
  }
  // nu (du/db + dv/da) on the edges across the axis of v; nu_t is the mean of the four cells around.
  INLINE real across(Index c, const Component& u, const Component& v, int n) const {
    const Index A = u.axis.step, B = v.axis.step, at = c + n * B;
    const real around = (nu_t[at] + nu_t[at - (A + B)]) + (nu_t[at - A] + nu_t[at - B]);
    const real nu = edges.touch(c, u, v, n) ? viscosity : viscosity + real(0.25) * around;
    return nu * (v.axis.per_face(n) * (u.q[at] - u.q[at - B]) + u.axis.per_face() * (v.q[at] - v.q[at - A]));
  }

  INLINE real at(Index c, const Component& u, const Component& v, const Component& w) const {
    return 2 * u.axis.divergence_on_face() * (along(c, u, 1) - along(c, u, 0)) +
           v.axis.per_cell() * (across(c, u, v, 1) - across(c, u, v, 0)) +
           w.axis.per_cell() * (across(c, u, w, 1) - across(c, u, w, 0));
  }
};
using Turbulent = Stress<NoneTouches>;
using TurbulentBeside = Stress<Touching>;

// viscosity Laplacian(u), or div(nu (grad u + grad u^T))
FN Molecular stress(real viscosity, None, None) { return {viscosity}; }
FN Turbulent stress(real viscosity, In nu_t, None) { return {viscosity, nu_t, {}}; }
FN TurbulentBeside stress(real viscosity, In nu_t, InShort edges) { return {viscosity, nu_t, {edges}}; }
