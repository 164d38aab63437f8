// Bodies inside charts: `aperture` has the open shares of low faces, `wall` the surface in a cell, `fluid` the open share of its
// volume. A flow without bodies has None in place of them, and nothing of this is in the machine code.
//
// The numbers of a wall: its area, towards the body (0 to 2); its area over the distance of a point in the fluid (3); the directions
// along axes that lead away from the body (4 to 6), of which so much leads to that point (7); what leads to the middle of the wall, from
// the middle of the cell towards these neighbours (8 to 10); that middle (11 to 13); the velocity of the body (14 to 16); and the volume
// that the surface sweeps per time (17).
typedef InValues<18> InWall;

// The open share of a face, and what passes it
template <class F>
FN real open_share(None, const F&) { return 1; }
template <class F>
FN real open_share(InValues<3> aperture, const F& f) { return aperture(f, F::axis); }
template <class Several, int n = 0>
FN Several times(real share, Several a) {
  a.of[n] *= share;
  if constexpr ((n + 1) * sizeof(real) < sizeof a.of) return times<Several, n + 1>(share, a);
  return a;
}
template <class Several, class F>
FN Several opened(const Several& passing, None, const F&) { return passing; }
template <class Several, class F>
FN Several opened(const Several& passing, InValues<3> aperture, const F& f) { return times(open_share(aperture, f), passing); }

// A volume, or a rate, of the fluid in a cell
FN None filled(None, None, Index) { return {}; }
FN None filled(None, In, Index) { return {}; }
FN real filled(real all, None, Index) { return all; }
FN real filled(real all, In fluid, Index c) { return all * fluid[c]; }

// q in a cell, and some of its difference from the neighbours away from the body
FN real from_neighbour(In q, Index c, real away, real by, Index A) { return by * ((away > 0 ? q[c + A] : q[c - A]) - q[c]); }
FN real away(In q, Index c, const Steps& steps, Vector direction, Vector by) {
  const real plane = q[c] + (from_neighbour(q, c, direction.x, by.x, steps.x) + from_neighbour(q, c, direction.y, by.y, steps.y));
#ifdef PLANAR
  return plane;
#else
  return plane + from_neighbour(q, c, direction.z, by.z, steps.z);
#endif
}

FN Vector three(InWall wall, const Cell& c, int n) { return {wall(c, n), wall(c, n + 1), wall(c, n + 2)}; }
FN Vector magnitudes(Vector a) { return {magnitude(a.x), magnitude(a.y), magnitude(a.z)}; }

// What a flow exerts on the surface of a body in a cell: its pressure there, and friction with a surface of a velocity
struct OnWall {
  Vector pressure, friction;
};
FN OnWall on_wall(InWall wall, In p, In u, In v, In w, const Cell& c, const Steps& steps, real viscosity, Vector moving) {
  const Vector direction = three(wall, c, 4), by = wall(c, 7) * magnitudes(direction);
  const real grip = viscosity * wall(c, 3);
  const Vector sliding{away(u, c, steps, direction, by), away(v, c, steps, direction, by), away(w, c, steps, direction, by)};
  return {away(p, c, steps, direction, three(wall, c, 8)) * three(wall, c, 0), grip * (sliding - moving)};
}

// The velocity of a surface, and the mass that leaves a cell, with what a surface sweeps
FN Vector moving(None, const Cell&) { return {0, 0, 0}; }
FN Vector moving(InWall wall, const Cell& c) { return three(wall, c, 14); }
FN real with_swept(real leaving, None, const Cell&) { return leaving; }
FN real with_swept(real leaving, InWall wall, const Cell& c) { return leaving + wall(c, 17); }

// The momentum that leaves a cell, with what a surface takes, and with that of the volume that it sweeps
FN Vector adhering(Vector leaving, None, In, In, In, In, const Cell&, const Steps&, const Numbers&, Vector) { return leaving; }
FN Vector adhering(Vector leaving, InWall wall, In p, In u, In v, In w, const Cell& c, const Steps& steps, const Numbers& n, Vector moving) {
  const OnWall on = on_wall(wall, p, u, v, w, c, steps, n.viscosity, moving);
  return plus(leaving + (on.pressure + on.friction), wall(c, 17), {u[c], v[c], w[c]});
}
