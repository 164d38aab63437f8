// Fluxes through the low or high faces of cells across an axis: of volume, momentum and scalars.
#define UZ 32
#include "cell.h"
#include "friction.h"
#include "convection.h"
#include "scalars/diffusivity.h"
#include "scalars/limited.h"

// Friction in the cells and on the edges that bound a face's volume
struct Viscous {
  real viscosity;
  INLINE real in(Index) const { return viscosity; }
  INLINE real across(Index c, const Component& u, const Component& v) const {
    const Index A = u.axis.step, B = v.axis.step;
    return viscosity * (v.axis.per_face() * (u.q[c] - u.q[c - B]) + u.axis.per_face() * (v.q[c] - v.q[c - A]));
  }
};
struct Eddying {
  Turbulent stress;
  INLINE real in(Index cell) const { return stress.viscosity + stress.nu_t[cell]; }
  INLINE real across(Index c, const Component& u, const Component& v) const { return stress.across(c, u, v, 0); }
};

// A face across axis number a of the grid: the low one of a cell, which may be outside the domain. Its neighbour `n` cells
// further along b has its own Axis.
struct Face {
  const Grid& grid;
  int a;
  Cell cell;
  Index steps[3];

  INLINE Axis along(int b, int n = 0) const { return axis(grid, b, index(cell, b) + n, steps[b]); }
  INLINE Cell next(int b) const { return {cell.i + (b == 0), cell.j + (b == 1), cell.k + (b == 2), cell + steps[b]}; }
  INLINE bool at_low_end() const { return index(cell, a) == grid.first[a]; }
  INLINE bool at_high_end() const { return index(cell, a) - 1 == grid.last[a]; }
  // True if the velocity across b is given on the low face `n` cells further, so that it has no momentum equation
  INLINE bool given(int b, int n) const {
    const int place = index(cell, b) + n;
    return (place == grid.first[b]) | (place - 1 == grid.last[b]);
  }
};

FN Face face_of(const Grid& g, int a, bool high, const Cell& c, Index X, Index Y, Index Z) {
  Face face{g, a, c, {X, Y, Z}};
  if (high) face.cell = face.next(a);
  return face;
}

// u_a, and u u_a + p - nu (grad u + grad u^T), along x, y, z, as in the momentum equations, with a cell the mean of its two
// faces: fluxes in the adjacent cells are interpolated linearly to the face, or taken from the one cell at an end of the
// domain, and the face has half of the fluxes of its edges.
template <class Friction>
struct FlowThrough {
  static constexpr int COUNT = 4;
  In u, v, w, p;
  Friction friction;
  Convection convection;

  INLINE In velocity(int number) const { return number == 0 ? u : number == 1 ? v : w; }

  // Along a, in the cell before (n = 0) or after (1) the face
  INLINE real normal(const Face& f, const Component& q, int n) const {
    const Index A = q.axis.step, at = f.cell + n * A;
    const real stretching = q.axis.per_cell(n - 1) * (q.q[at] - q.q[at - A]);
    return of_means(convection.along(f.cell, q, n)) + p[at - A] - 2 * friction.in(at - A) * stretching;
  }
  // Along b, on the edges across b before (n = 0) and after (1) the centre of the face
  INLINE real shear(const Face& f, const Component& q, int b, int n) const {
    const Cell at = n == 0 ? f.cell : f.next(b);
    const Component r{velocity(b), b, f.along(b, n)};
    const real flux = of_means(convection.across(at, r, q, 0)) - friction.across(at, r, q);
    return f.given(b, n) ? real(0) : flux;
  }

  INLINE Sums<COUNT> on(const Face& f) const {
    const int b = (f.a + 1) % 3, d = (f.a + 2) % 3;
    const Component q{velocity(f.a), f.a, f.along(f.a)};
    Sums<COUNT> flux;
    flux.of[0] = q.q[f.cell];
    flux.of[1 + f.a] = f.at_low_end()    ? normal(f, q, 1)
                       : f.at_high_end() ? normal(f, q, 0)
                                         : real(0.5) * q.axis.twice_between(normal(f, q, 0), normal(f, q, 1), 0);
    flux.of[1 + b] = real(0.5) * (shear(f, q, b, 0) + shear(f, q, b, 1));
    flux.of[1 + d] = real(0.5) * (shear(f, q, d, 0) + shear(f, q, d, 1));
    return flux;
  }
};

// c u_a - diffusivity dc/da
template <class Diffusivity>
struct CarriedThrough {
  static constexpr int COUNT = 1;
  In c, u, v, w;
  Diffusivity by;

  INLINE Sums<COUNT> on(const Face& f) const {
    const Index behind = f.cell, before = behind - f.steps[f.a];
    const double low = c[before], high = c[behind], speed = (f.a == 0 ? u : f.a == 1 ? v : w)[behind];
    return {{0.5 * speed * (low + high) + by.between(before, behind) * f.along(f.a).per_face() * (low - high)}};
  }
};

// The same with the limited values of bounded quantities, and the current velocity
template <class Diffusivity>
struct BoundedThrough {
  static constexpr int COUNT = 1;
  In c, u, v, w;
  Diffusivity by;

  INLINE Sums<COUNT> on(const Face& f) const {
    const In speed = f.a == 0 ? u : f.a == 1 ? v : w;
    const Direction d{f.a, f.steps[f.a], f.grid.first[f.a], f.grid.last[f.a], speed, speed};
    return {{passing(c, f.cell, index(f.cell, f.a), d, f.along(f.a).per_face(), by, 0)}};
  }
};

FN Viscous stress(real viscosity, None) { return {viscosity}; }
FN Eddying stress(real viscosity, In nu_t) { return {{viscosity, nu_t, {}}}; }

template <class Friction>
FN FlowThrough<Friction> flow_through(In u, In v, In w, In p, Friction friction, const Grid& grid) {
  return {u, v, w, p, friction, Convection(grid)};
}
template <class Diffusivity>
FN auto carried_through(In c, In u, In v, In w, Diffusivity by) {
#ifdef BOUNDED
  return BoundedThrough<Diffusivity>{c, u, v, w, by};
#else
  return CarriedThrough<Diffusivity>{c, u, v, w, by};
#endif
}

// The largest magnitude of the fluxes, and their exact sums, each times the area of its face
template <class Through>
FN void largest(const Range& range, Partial bound, const Grid& grid, int axis, int high, Through through) {
  STRIDES(range)
  reduce_cells(range, bound, MAX, CELL(c) {
    const Sums<Through::COUNT> flux = through.on(face_of(grid, axis, high, c, X, Y, Z));
    double most = 0;
    for (int n = 0; n < Through::COUNT; ++n) most = Max::fold(most, flux.of[n] < 0 ? -flux.of[n] : flux.of[n]);
    return area(grid, axis, c) * most;
  });
}
template <class Through>
FN void sum_up(const Range& range, const ExactPartial<Through::COUNT>& sums, In64 bound, const Grid& grid, int axis, int high,
               Through through) {
  STRIDES(range)
  exact_sum_cells(range, sums, bound, CELL(c) {
    Sums<Through::COUNT> flux = through.on(face_of(grid, axis, high, c, X, Y, Z));
    for (int n = 0; n < Through::COUNT; ++n) flux.of[n] = area(grid, axis, c) * flux.of[n];
    return flux;
  });
}

TASK momentum_flux_bound(Range range, In u_sides, In v_sides, In w_sides, In p OPTIONAL(nu_t), Partial bound, Grid grid,
                         int axis, int high, Fluid fluid) {
  largest(range, bound, grid, axis, high, flow_through(u_sides, v_sides, w_sides, p, stress(fluid.viscosity, nu_t), grid));
}
TASK momentum_flux(Range range, In u_sides, In v_sides, In w_sides, In p OPTIONAL(nu_t), ExactPartial<4> flux, In64 bound,
                   Grid grid, int axis, int high, Fluid fluid) {
  sum_up(range, flux, bound, grid, axis, high, flow_through(u_sides, v_sides, w_sides, p, stress(fluid.viscosity, nu_t), grid));
}

TASK scalar_flux_bound(Range range, In c, In u, In v, In w OPTIONAL(nu_t), Partial bound, Grid grid, int axis, int high,
                       Diffusion diffusion OPTIONAL(prandtl)) {
  largest(range, bound, grid, axis, high, carried_through(c, u, v, w, diffusivity_of(diffusion.diffusivity, nu_t, prandtl)));
}
TASK scalar_flux(Range range, In c, In u, In v, In w OPTIONAL(nu_t), ExactPartial<1> flux, In64 bound, Grid grid, int axis,
                 int high, Diffusion diffusion OPTIONAL(prandtl)) {
  sum_up(range, flux, bound, grid, axis, high, carried_through(c, u, v, w, diffusivity_of(diffusion.diffusivity, nu_t, prandtl)));
}
