// Faces that move: what they sweep per time, u_g.S. A grid at rest has None in place of it, and nothing of this is in the machine code.

template <int D>
FN None swept_by(None, const Cell&) { return {}; }
template <int D>
FN real swept_by(InValues<3> swept, const Cell& f) { return swept(f, D); }
// The mean of both faces across D
template <int D>
FN None swept_across(None, const Cell&) { return {}; }
template <int D>
FN real swept_across(InValues<3> swept, const Cell& c) { return real(0.5) * (swept(c, D) + swept(c, D, D == 0, D == 1, D == 2)); }

// A flux through a face that moves
FN real relative(real theta, None) { return theta; }
FN real relative(real theta, real swept) { return theta - swept; }
// What passes a place at rest with a wall that moves
FN real with_wall(None) { return 0; }
FN real with_wall(real swept) { return swept; }
// The mean of the speeds of the flow and relative to the face: in the middle between the speeds of sound waves
FN real middle_of(real theta, None) { return theta; }
FN real middle_of(real theta, real swept) { return theta - real(0.5) * swept; }
