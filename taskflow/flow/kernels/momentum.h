// Momentum on the MAC grid, seen from a face: central differences of second order. u[i] lives on the low x-face of cell i,
// v[j] on the low y-face, w[k] on the low z-face.
#include "adams_bashforth.h"
#include "friction.h"

// H = -div(q U) + friction at the low face across `a` of cell c: q is the velocity along a; r and s are those along b
// and d.
template <class Friction>
FN real tendency(In q, In r, In s, Index c, Axis a, Axis b, Axis d, const Friction& friction) {
  const Index A = a.step, B = b.step, D = d.step;
  const real here = q[c];
  const real a_low = q[c - A] + here, a_high = here + q[c + A];  // twice q in the cells on both sides of the face
  const real b_low = q[c - B] + here, b_high = here + q[c + B];  // twice q on the edges across b ...
  const real d_low = q[c - D] + here, d_high = here + q[c + D];
  const real r_low = a.twice_mean(r[c - A], r[c]), r_high = a.twice_mean(r[c - A + B], r[c + B]);  // ... and what carries it
  const real s_low = a.twice_mean(s[c - A], s[c]), s_high = a.twice_mean(s[c - A + D], s[c + D]);  // there, twice
  const real convection = a.per_face() * (a_high * a_high - a_low * a_low) +
                          b.per_cell() * (r_high * b_high - r_low * b_low) +
                          d.per_cell() * (s_high * d_high - s_low * d_low);
  return friction.at(q, r, s, c, a, b, d) - real(0.25) * convection;
}

// One component in one cell at the end of the step: what replaces H_old, and the velocity.
struct Next {
  real tendency, velocity;
};

// A face that lies on a wall keeps its velocity.
FN Next predicted(In q, const real* H_old, Index c, bool on_wall, real H, AdamsBashforth scheme) {
  const real here = q[c], next = scheme.advance(here, H, H_old[c]);
  return {on_wall ? real(0) : H, on_wall ? here : next};
}

// What a cell becomes, once everything that it follows from has been loaded.
FN void store(Index c, Next u, Next v, Next w, InOut h_u, InOut h_v, InOut h_w, Out u_new, Out v_new, Out w_new) {
  loaded();
  h_u[c] = u.tendency, h_v[c] = v.tendency, h_w[c] = w.tendency;
  u_new[c] = u.velocity, v_new[c] = v.velocity, w_new[c] = w.velocity;
}
