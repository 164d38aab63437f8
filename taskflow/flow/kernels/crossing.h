// How often per time the flow crosses a cell: what bounds the length of a time step.

// The larger magnitude on the two faces of a cell across one direction.
FN real fastest(In q, Index c, Index step) { return larger(magnitude(q[c]), magnitude(q[c + step])); }

// |u|/dx + |v|/dy + |w|/dz, each with the larger of a cell's two faces
FN real crossings(In u, In v, In w, Index c, Index X, Index Y, Index Z, const Grid& grid) {
  return grid.inverse[0] * fastest(u, c, X) + grid.inverse[1] * fastest(v, c, Y) + grid.inverse[2] * fastest(w, c, Z);
}
