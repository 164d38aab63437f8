// Sweeps whose tiles are single cells: all cells of a launch are independent.

// A launch has every cell of a row along x, or every other one from the first on; or the one in a PLANE, whose number is the
// colour: earlier neighbours are the lower ones, as in a WHOLE sweep.
#ifdef PLANE
FN int spread(const Sweep& s) { return s.last[0] - s.first[0]; }
FN int first_single(const Range& r, const Sweep& s, int j, int k) {
  const int i = s.first[0] + s.colour - (j - s.first[1]) - (k - s.first[2]);
  return i < r.lo[0] ? r.hi[0] : i;
}
#else
FN int spread(const Sweep& s) { return s.colour < 0 ? 1 : 2; }
FN int first_single(const Range& r, const Sweep& s, int j, int k) {
  return r.lo[0] + (s.colour < 0 ? 0 : (r.lo[0] - s.first[0] + j - s.first[1] + k - s.first[2] + s.colour) & 1);
}
#endif
template <class D>
FN SweptCell single_cell(const Range& r, const Sweep& s, int i, int j, int k) {
  const int at[3] = {i, j, k};
  unsigned sides = 0;
#ifdef PLANE
  for (int a = 0; a < 3; ++a) sides |= (D::way > 0 ? (at[a] > s.first[a] ? 1u : 0u) : at[a] + 1 < s.last[a] ? 2u : 0u) << (2 * a);
  return {{i, j, k, i + j * r.y + k * r.z}, sides, 0};
#else
  for (int a = 0; a < 3 && s.colour == (D::way > 0 ? 1 : 0); ++a)
    sides |= ((at[a] > s.first[a] ? 1u : 0u) | (at[a] + 1 < s.last[a] ? 2u : 0u)) << (2 * a);
  return {{i, j, k, i + j * r.y + k * r.z}, sides, sides};
#endif
}

#ifdef GPU
// The cell of a thread, or of a group of threads, from its number and their count in a thread block; false if there is none.
template <class D>
FN bool cell_of_thread(const Range& r, const Sweep& s, int mine, int many, SweptCell& c) {
  const int across = (r.hi[0] - r.lo[0] + spread(s) - 1) / spread(s), number = int(BLOCK(r).x) * many + mine;
  const int j = r.lo[1] + number / across, k = r.lo[2] + int(BLOCK(r).z);
  const int i = first_single(r, s, j, k) + number % across * spread(s);
  c = single_cell<D>(r, s, i, j, k);
  return i < r.hi[0] && j < r.hi[1];
}
template <class D, class L, class F>
FN void sweep_cells(const Range& r, const Sweep& s, D, L load, F f) {
  SweptCell c;
  if (cell_of_thread<D>(r, s, int(threadIdx.x), int(blockDim.x), c)) f(c, load(c));
}
#else
// f(first) does the cells, each with the next one of the row. Threads share rows along x.
template <class D, class F>
FN void sweep_ahead(const Range& r, const Sweep& s, D, F f) {
  const Index rows = size(r, 1), count = rows * size(r, 2);
  share(r, count, [=](Index first, Index last, bool) {
    const auto one = f(single_cell<D>(r, s, r.lo[0], r.lo[1], r.lo[2]));
    for (Index n = first; n < last; ++n) {
      const Index at = shuffled(n, count);
      const int j = r.lo[1] + int(at % rows), k = r.lo[2] + int(at / rows), begin = first_single(r, s, j, k);
      const int cells = begin < r.hi[0] ? (r.hi[0] - begin + spread(s) - 1) / spread(s) : 0;
      delay(j + 7 * k);
      for (int m = 0; m < cells; ++m) {
        const int i = begin + spread(s) * int(shuffled(m, cells));
        const SweptCell c = single_cell<D>(r, s, i, j, k), next = single_cell<D>(r, s, i + spread(s), j, k);
        one.cell(c, next, one.row(c, next));
      }
    }
  });
}
#endif
