// Faces in rows, with buffers in the first-level caches: see faces.h.

constexpr int TILE = 1024 / sizeof(real), TILE_ROWS = 16, TILE_PLANES = 32;
constexpr int FULL = 64 / sizeof(real);  // faces of the widest vectors

// A face at an end of the range, of any kind, or in a row too short for a vector loop
template <class Through, class F>
static __attribute__((noinline)) auto at_end(Through through, F f) { return through(f); }

template <int N, int n = 0>
FN void keep_face(real (*row)[TILE + 1], int at, const Values<N>& face) {
  row[n][at] = face.of[n];
  if constexpr (n + 1 < N) keep_face<N, n + 1>(row, at, face);
}

// The low faces across D of the cells [from, to)
template <int D, int N, class Through>
FN void face_row(const Range& r, int from, int to, int j, int k, real (*row)[TILE + 1], Through through) {
  const Index begin = j * r.y + k * r.z;
  const auto within = [=](int i) __attribute__((always_inline)) {
    keep_face<N>(row, i - from, through(FaceOf<D, true>{{i, j, k, begin + i}, false}));
  };
  const auto apart = [=](int i, bool end) __attribute__((always_inline)) {
    keep_face<N>(row, i - from, at_end(through, FaceOf<D>{{i, j, k, begin + i}, end}));
  };
  int first = from, last = to;
  if (D == 0 && first == r.lo[0]) apart(first++, true);
  if (D == 0 && last == r.hi[0] + 1) apart(--last, true);
  const bool ends = D == 1 ? j == r.lo[1] || j == r.hi[1] : D == 2 && (k == r.lo[2] || k == r.hi[2]);
  if (ends || last - first < LANES) {
    for (int i = first; i < last; ++i) apart(i, ends);
    return;
  }
  if constexpr (FULL > LANES)
    for (; first + FULL <= last; first += FULL)
#pragma omp simd
      for (int l = 0; l < FULL; ++l) within(first + l);
  for (int i = first; i < last; i += LANES) {
    const int begun = i + LANES < last ? i : last - LANES;  // the end of a row is a full vector: some faces are computed twice
#pragma omp simd
    for (int l = 0; l < LANES; ++l) within(begun + l);
  }
}

template <int N, int n = 0>
FN Values<N> face_in(const real (*row)[TILE + 1], int at, Values<N> face = {}) {
  face.of[n] = row[n][at];
  if constexpr (n + 1 < N) return face_in<N, n + 1>(row, at, face);
  return face;
}

template <int N, int AXES, class Through, class Update>
FN void balance_cells(const Range& r, Through through, Update update) {
  if (!size(r, 1)) return;
  const auto parts = [](Index count, Index most) { return (count + most - 1) / most; };
  const Index across = parts(size(r, 0), TILE), planes = size(r, 2);
  const Index rows = parts(size(r, 1), AXES == 3 ? parts(size(r, 1), TILE_ROWS) : r.threads), columns = across * parts(size(r, 1), rows);
  // Threads share planes: first of a column of tiles, at most TILE_PLANES, then of the next column
  share(r, columns * planes, [=](Index first, Index last, bool backward) {
    real x[N][TILE + 1], y[2][N][TILE + 1], z[AXES == 3 ? TILE_ROWS : 1][2][N][TILE + 1];
    for (Index left = last - first, many; left > 0; left -= many) {
      const Index n = backward ? first + left - 1 : last - left;
      const Index layer = n / (columns * TILE_PLANES), before = layer * TILE_PLANES, deep = planes - before < TILE_PLANES ? planes - before : TILE_PLANES;
      const Index at = n - columns * before, m = at / deep, begun = at % deep;
      many = backward ? begun + 1 : deep - begun;
      many = many < left ? many : left;
      const int from = r.lo[0] + int(m % across) * TILE, to = from + TILE < r.hi[0] ? from + TILE : r.hi[0];
      const int low = r.lo[1] + int(m / across * rows), high = low + rows < r.hi[1] ? low + int(rows) : r.hi[1];
      const int bottom = r.lo[2] + int(before + (backward ? begun + 1 - many : begun)), top = bottom + int(many);
      for (int k = bottom; k < top; ++k) {
        for (int j = low; j < high; ++j) {
          const int before = j & 1, behind = 1 - before, below = k & 1, above = 1 - below;
          auto& towards = z[AXES == 3 ? j - low : 0];
          if (j == low) face_row<1, N>(r, from, to, j, k, y[before], through);
          face_row<1, N>(r, from, to, j + 1, k, y[behind], through);
          face_row<0, N>(r, from, to + 1, j, k, x, through);
          if constexpr (AXES == 3) {
            if (k == bottom) face_row<2, N>(r, from, to, j, k, towards[below], through);
            face_row<2, N>(r, from, to, j, k + 1, towards[above], through);
          }
          const auto balance = [&](int i) __attribute__((always_inline)) {
            const int at = i - from;
            Values<N> out = (face_in<N>(x, at + 1) - face_in<N>(x, at)) + (face_in<N>(y[behind], at) - face_in<N>(y[before], at));
            if constexpr (AXES == 3) out = out + (face_in<N>(towards[above], at) - face_in<N>(towards[below], at));
            update(Cell{i, j, k, j * r.y + k * r.z + i}, out);
          };
#pragma omp simd
          for (int i = from; i < to; ++i) balance(i);
        }
      }
    }
  });
}
