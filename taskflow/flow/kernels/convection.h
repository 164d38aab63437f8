// What the flow carries through the sides of the volume around a face: -div(q U).

// Central differences of second order. Four times the net flow of q out of the volume around the low face across `a` of cell
// c: q is the velocity along a; r and s are those along b and d.
struct Central {
  INLINE real at(In q, In r, In s, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step, B = b.step, D = d.step;
    const real here = q[c];
    const real a_low = q[c - A] + here, a_high = here + q[c + A];  // twice q in the cells on both sides of the face
    const real b_low = q[c - B] + here, b_high = here + q[c + B];  // twice q on the edges across b ...
    const real d_low = q[c - D] + here, d_high = here + q[c + D];
    const real r_low = a.twice_mean(r[c - A], r[c]), r_high = a.twice_mean(r[c - A + B], r[c + B]);  // ... and what carries
    const real s_low = a.twice_mean(s[c - A], s[c]), s_high = a.twice_mean(s[c - A + D], s[c + D]);  // it there, twice
    return a.per_face() * (a_high * a_high - a_low * a_low) + b.per_cell() * (r_high * b_high - r_low * b_low) +
           d.per_cell() * (s_high * d_high - s_low * d_low);
  }
};
