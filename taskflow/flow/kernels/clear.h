// Where upwind-biased schemes meet no boundary.

// The cells without faces on boundaries, or next to those
FN InteriorAmid clear_of_boundaries(const Grid& g) {
  const auto before = [&](int axis) { return g.last[axis] < 0 ? 1 << 30 : g.last[axis] - 2; };
  return {{{g.first[1] + 2, g.first[2] + 2}, {before(1), before(2)}, false}, g.first[0] + 2, before(0)};
}
