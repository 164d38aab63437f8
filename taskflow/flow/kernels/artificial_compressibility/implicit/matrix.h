// Blocks for the unknowns of a cell, by rows, and what fluxes of first order add to them. Written out: see faces.h.
#include "compressible.h"
#include "unknowns.h"
#include "../surfaces.h"

struct Block {
  real of[UNKNOWNS * UNKNOWNS];
};
FN constexpr int at(int row, int column) { return UNKNOWNS * row + column; }
FN Vector whole(Vector s) { return s; }
template <int D>
FN Vector whole(Aligned<D> s) { return {D == 0 ? s.size : 0, D == 1 ? s.size : 0, D == 2 ? s.size : 0}; }
FN Vector unit(int n) { return {real(n == 0), real(n == 1), real(n == 2)}; }
FN real part(Vector a, int n) { return n == 0 ? a.x : n == 1 ? a.y : a.z; }

// f times the pressure's part in the flux through an area
FN void add_pressure(Block& m, real f, Vector s) { m.of[at(1, 0)] += f * s.x, m.of[at(2, 0)] += f * s.y, m.of[at(3, 0)] += f * s.z; }

// f dF/du, the flux through an area being F = (u.s, u (u.s - swept) + p s)
template <int N>
FN void add_convection_of(Block& m, real along, Vector u, real theta) {
  m.of[1 + N] += along;
  m.of[at(1, 1 + N)] += along * u.x, m.of[at(2, 1 + N)] += along * u.y, m.of[at(3, 1 + N)] += along * u.z;
  m.of[at(1 + N, 1 + N)] += theta;
}
template <class Swept>
FN void add_convection(Block& m, real f, Vector u, Vector s, Swept swept) {
  const real theta = f * relative(dot(s, u), swept);
  add_convection_of<0>(m, f * s.x, u, theta), add_convection_of<1>(m, f * s.y, u, theta), add_convection_of<2>(m, f * s.z, u, theta);
}

FN void add_friction(Block& m, real f) { m.of[at(1, 1)] += f, m.of[at(2, 2)] += f, m.of[at(3, 3)] += f; }

// |A| d = speed d + d_p (mass, momentum) + jump (mass, momentum), jump = s.d_u: of the flux difference splitting (see `splitting`), with
// the speed theta smoothed near 0
struct Absolute {
  real speed, mass_p, mass_jump;
  Vector of_p, of_jump;
};
FN real smoothed(real theta, real low) {
  const real size = magnitude(theta);
  return size < low ? real(0.5) * (theta * theta * reciprocal(low) + low) : size;
}
FN Absolute absolute(Vector u, Vector s, real b, None) {
  const real theta = dot(s, u), s2 = square(s), sound = root(theta * theta + b * s2), inverse = reciprocal(sound * s2), half = real(0.5) * inverse;
  const real speed = smoothed(theta, real(0.02) * root(b * s2));
  const real up = (sound + theta - speed) * half, down = -((sound - theta - speed) * half), share = inverse * s2;
  const real up_p = up * s2, up_jump = up * (theta + sound), down_p = down * s2, down_jump = down * (theta - sound);
  const auto mass = [=](real up, real down) { return up * (sound - theta) - down * (sound + theta); };
  const auto momentum = [=](real up, real down) {
    return plus((share * s2 * (up - down)) * u, share * (up * (sound - theta) + down * (sound + theta)), s);
  };
  return {speed, mass(up_p, down_p), mass(up_jump, down_jump), momentum(up_p, down_p), momentum(up_jump, down_jump)};
}
// The same of a face that moves
FN Absolute absolute(Vector u, Vector s, real b, real swept) {
  const real theta = dot(s, u), s2 = square(s), m = middle_of(theta, swept), sound = root(m * m + b * s2), half = real(0.5) * reciprocal(sound * s2);
  const real speed = smoothed(theta - swept, real(0.02) * root(b * s2)), lag = real(0.5) * swept;
  const real first = reciprocal(sound + lag), second = reciprocal(sound - lag);
  const real up = (sound + m - speed) * half, down = -((sound - m - speed) * half);
  const real up_p = up * s2, up_jump = up * (m + sound), down_p = down * s2, down_jump = down * (m - sound);
  const auto mass = [=](real up, real down) { return up * (sound - m) - down * (sound + m); };
  const auto momentum = [=](real up, real down) {
    return plus((s2 * (up * first - down * second)) * u, up * (sound - m) * first + down * (sound + m) * second, s);
  };
  return {speed, mass(up_p, down_p), mass(up_jump, down_jump), momentum(up_p, down_p), momentum(up_jump, down_jump)};
}

// f diag(1/b, 1, 1, 1) |A|
template <int N>
FN void add_absolute_of(Block& m, real f, const Absolute& a, real along, real inverse_b) {
  m.of[1 + N] += inverse_b * along * a.mass_jump;
  m.of[at(1 + N, 0)] += f * part(a.of_p, N);
  m.of[at(1, 1 + N)] += along * a.of_jump.x, m.of[at(2, 1 + N)] += along * a.of_jump.y, m.of[at(3, 1 + N)] += along * a.of_jump.z;
  m.of[at(1 + N, 1 + N)] += f * a.speed;
}
FN void add_absolute(Block& m, real f, const Absolute& a, Vector s, real inverse_b) {
  m.of[0] += f * inverse_b * (a.speed + a.mass_p);
  add_absolute_of<0>(m, f, a, f * s.x, inverse_b), add_absolute_of<1>(m, f, a, f * s.y, inverse_b), add_absolute_of<2>(m, f, a, f * s.z, inverse_b);
}

// A scalar among the unknowns, on a face of a cell: what its value in the cell beyond changes, and the velocity of both cells
struct Passage {
  real spread;
  Vector by_velocity;
};
template <class Swept>
FN Passage passage(real here, real there, Vector velocities, Vector s, real conducted, Swept swept) {
  const real half = real(0.5), outwards = relative(half * dot(s, velocities), swept);
  const real coming = outwards < 0 ? -outwards : real(0);
  return {coming + conducted, (outwards < 0 ? half * (there - here) : real(0)) * s};
}
template <class Row>
FN void add_velocity(Block& m, Row row, Vector by) { m.of[at(row, 1)] += by.x, m.of[at(row, 2)] += by.y, m.of[at(row, 3)] += by.z; }

// The constants of the scalar behind T
#ifdef SCALAR
FN Numbers numbers_of(const Numbers& n, int row) {
  Numbers m = n;
  if (row == 5) m.diffusivity = n.scalar_diffusivity, m.per[2] = n.scalar_per;
  return m;
}
#else
FN const Numbers& numbers_of(const Numbers& n, int) { return n; }
#endif

// A face of a cell: its area, towards the cell beyond; what a difference across it conducts; b; what it sweeps, outwards
template <class Swept>
struct Across {
  Index beyond;
  Vector area;
  real conductance, b;
  Swept swept;
  bool shut;
};
FN None turned(real, None) { return {}; }
FN real turned(real sign, real swept) { return sign * swept; }
// Nothing is coupled across faces that a body closes; they are numbers like others.
FN bool shut(None, int, const Cell&) { return false; }
FN bool shut(InValues<3> aperture, int axis, const Cell& f) { return aperture(f, axis) == 0; }
FN real coupling_share(None, int, const Cell&) { return 1; }
FN real coupling_share(InValues<3> aperture, int axis, const Cell& f) {
  const real share = aperture(f, axis);
  return share == 0 ? real(1) : share;
}
template <int SIDE, class Geometry, class B, class Field, class Aperture>
FN auto across(const Geometry& g, B b, Field field, Aperture aperture, const Cell& c, const Steps& steps, const Numbers& n) {
  constexpr int D = SIDE / 2;
  constexpr bool HIGHER = SIDE % 2;
  const Index beyond = HIGHER ? c + steps.of<D>() : c - steps.of<D>();
  const Cell f{c.i + (HIGHER && D == 0), c.j + (HIGHER && D == 1), c.k + (HIGHER && D == 2), HIGHER ? beyond : Index(c)};
  const real sign = HIGHER ? 1 : -1, share = coupling_share(aperture, D, f);
  auto swept = turned(sign, swept_by<D>(field, f));
  return Across<decltype(swept)>{beyond, (sign * share) * whole(g.template face<D>(f)), share * diffusion<D>(g, f).normal,
                                 compressible(b, n, c, beyond), swept, shut(aperture, D, f)};
}

// The block of a cell with the velocity u for another with v, s being the area towards that
template <class Swept>
FN Block coupled(Vector u, Vector v, Vector s, real friction, real b, Swept swept) {
  Block m{};
  const real half = real(0.5);
  add_pressure(m, half, s), add_convection(m, half, v, s, swept);
  add_absolute(m, -half, absolute(half * (u + v), s, b, swept), s, reciprocal(b)), add_friction(m, -friction);
  return m;
}
