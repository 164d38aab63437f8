// What the flow carries through the sides of the volume around a face: -div(q U).

// Central differences of second order. Four times the net flow of q out of the volume around the low face across `a` of cell
// c: q is the velocity along a; r and s are those along b and d.
struct Central {
  INLINE Central on(int, const Cell&) const { return {}; }
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

// Where a cell is along a direction, and the cells beside boundaries there.
struct Place {
  int n, first, last;
};

// The same with values of q that are biased upwind (QUICK, Leonard 1979): the mean of two neighbours less an eighth of the
// second difference around the one that the flow comes from. The mean alone is taken where that would reach beyond a
// boundary further than the ghost values, and on boundaries.
struct Biased {
  Place on_a, on_b, on_d;

  // Twice the value between c - S and c
  static INLINE real between(In q, Index c, Index S, bool forward, bool reaches) {
    const real low = q[c - S], high = q[c], beyond = forward ? q[c - 2 * S] : q[c + S];
    const real up = forward ? low : high, down = forward ? high : low, bend = beyond - 2 * up + down;
    return low + high - (reaches ? real(0.25) * bend : real(0));
  }
  // Four times the net flow across the edges along b
  static INLINE real across(In q, In r, Index c, Axis a, Axis b, Place on_b) {
    const Index A = a.step, B = b.step;
    const real low = a.twice_mean(r[c - A], r[c]), high = a.twice_mean(r[c - A + B], r[c + B]);  // what carries it, twice
    return b.per_cell() * (high * between(q, c + B, B, high > 0, on_b.n != on_b.last) -
                           low * between(q, c, B, low > 0, on_b.n != on_b.first));
  }

  INLINE real at(In q, In r, In s, Index c, Axis a, Axis b, Axis d) const {
    const Index A = a.step;
    const real low = q[c - A] + q[c], high = q[c] + q[c + A];  // what carries it in the cells before and behind, twice
    const bool from_low = low > 0, from_high = high > 0;
    const real before = low * between(q, c, A, from_low, !from_low | (on_a.n - 1 != on_a.first));
    const real behind = high * between(q, c + A, A, from_high, from_high | (on_a.n != on_a.last));
    return a.per_face() * (behind - before) + across(q, r, c, a, b, on_b) + across(q, s, c, a, d, on_d);
  }
};

struct Quick {
  int first[3], last[3];

  INLINE explicit Quick(const Grid& g)
      : first{g.first[0], g.first[1], g.first[2]}, last{g.last[0], g.last[1], g.last[2]} {}
  INLINE Biased on(int number, const Cell& c) const {
    const Place x{c.i, first[0], last[0]}, y{c.j, first[1], last[1]}, z{c.k, first[2], last[2]};
    if (number == 0) return {x, y, z};
    if (number == 1) return {y, x, z};
    return {z, x, y};
  }
};
