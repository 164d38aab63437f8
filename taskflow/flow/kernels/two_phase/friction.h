// Friction of two phases. In functions of a, b and d one of them is the axis of the component, and b and d are the others.
#include "../component.h"
#include "phases.h"

// mu on an edge of a face, of the mean of the four cells around it
FN real edge_viscosity(const Phases& phases, In f, Index at, Index A, Index B) {
  return viscosity(phases, real(0.25) * ((f[at] + f[at - (A + B)]) + (f[at - A] + f[at - B])));
}

// A neighbour of a face that is solid, inside a body, and holds 0, stands for a wall half a cell away
FN real steepened(None, int) { return 1; }
FN real steepened(int walls, int n) { return walls >> n & 1 ? 2 : 1; }

// div(mu (grad u + grad u^T)), with mu of the share f in cells
struct Friction {
  Phases phases;
  In f;

  INLINE real along(Index c, const Component& a, int n) const {
    const Index A = a.axis.step, at = c + n * A;
    return viscosity(phases, f[at - A]) * (a.axis.per_cell(n - 1) * (a.q[at] - a.q[at - A]));
  }
  template <class Walls>
  INLINE real across(Index c, const Component& a, const Component& b, int n, Walls walls) const {
    const Index A = a.axis.step, B = b.axis.step, at = c + n * B;
    const real change = steepened(walls, n) * (a.q[at] - a.q[at - B]);
    return edge_viscosity(phases, f, at, A, B) * (b.axis.per_face(n) * change + a.axis.per_face() * (b.q[at] - b.q[at - A]));
  }
  template <class Walls>
  INLINE real at(Index c, const Component& a, const Component& b, const Component& d, Walls walls) const {
    return 2 * a.axis.per_face() * (along(c, a, 1) - along(c, a, 0)) +
           b.axis.per_cell() * (across(c, a, b, 1, walls) - across(c, a, b, 0, walls)) +
           d.axis.per_cell() * (across(c, a, d, 1, walls >> 2) - across(c, a, d, 0, walls >> 2));
  }
};
