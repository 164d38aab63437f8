// Faces shared by the threads of a block: see faces.h.

#ifndef NARROWEST
#define NARROWEST 1
#endif

// Faces that threads share: those across y of all cells in a plane, and of a row more; those across x beyond the last cells. Few, as
// what is shared is no cache: thread blocks are NARROWEST threads wide or more.
constexpr int SHARED_FACES = BX * BY + (BX + BY > NARROWEST + BX * BY / NARROWEST ? BX + BY : NARROWEST + BX * BY / NARROWEST);
template <int D>
FN int place(int x, int y) { return D == 0 ? (blockDim.y + 1) * blockDim.x + y : y * blockDim.x + x; }

// The same number, of which the compiler knows nothing: it loads what one face needs again for the next, rather than keep it.
FN Index forgotten(Index offset) {
  asm volatile("" : "+l"(offset));
  return offset;
}

// Where a thread has faces in all planes; beyond the range, of which nothing is used, at most one cell away from it
struct Standing {
  int i, j;
  Index column;
};
FN Standing standing(const Range& r, int i, int j) {
  i = i < r.hi[0] ? i : r.hi[0], j = j < r.hi[1] ? j : r.hi[1];
  return {i, j, i + j * r.y};
}

// A face of a thread, which knows whether faces of its thread block may be at an end of the range
template <int D, bool ENDS>
FN auto face_of(const Range& r, const Standing& s, int k, Index plane) {
  const int along = D == 0 ? s.i : D == 1 ? s.j : k;
  return FaceOf<D, !ENDS>{{s.i, s.j, k, forgotten(s.column + plane)}, ENDS && (along == r.lo[D] || along == r.hi[D])};
}

template <int D, int N>
FN void put_face(real (&shared)[N][SHARED_FACES], int x, int y, const Values<N>& face) {
#pragma unroll
  for (int m = 0; m < N; ++m) shared[m][place<D>(x, y)] = face.of[m];
}

template <int D, int N>
FN Values<N> shared_face(const real (&shared)[N][SHARED_FACES], int x, int y) {
  Values<N> face;
#pragma unroll
  for (int m = 0; m < N; ++m) face.of[m] = shared[m][place<D>(x, y)];
  return face;
}

// What the next thread along x has, or what is shared of the last one
template <int N>
FN Values<N> of_next(const Values<N>& mine, const real (&shared)[N][SHARED_FACES]) {
  const bool last = threadIdx.x == blockDim.x - 1;
  Values<N> next;
#pragma unroll
  for (int m = 0; m < N; ++m) {
    next.of[m] = __shfl_down_sync(0xffffffffu, mine.of[m], 1);
    if (last) next.of[m] = shared[m][place<0>(0, threadIdx.y)];
  }
  return next;
}

// The faces of a thread in a plane: its own, and of a few threads one beyond the last cells across x, or across y
struct Places {
  Standing mine, east, north;
};

// What leaves cells through the faces of a plane, and enters them through those below; the faces above are found, too. X: some
// across x may be at an end of the range, REST: others. There are ways without what only ends need.
template <int AXES, bool X, bool REST, int N, class Through>
FN Values<N> leaving(const Range& r, const Places& of, int k, Index plane, const Values<N>& below, Values<N>& above, real (&shared)[N][SHARED_FACES],
                     Through through) {
  const int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y, me = y * width + x, behind = (height - 1) * width;
  const Values<N> west = through(face_of<0, X>(r, of.mine, k, plane)), south = through(face_of<1, REST>(r, of.mine, k, plane));
  if (y > 0) put_face<1>(shared, x, y, south);
  if (me < height) put_face<0>(shared, width, me, through(face_of<0, X>(r, of.east, k, plane)));
  if (me >= behind) put_face<1>(shared, me - behind, height, through(face_of<1, REST>(r, of.north, k, plane)));
  __syncthreads();
  const Values<N> out = (of_next(west, shared) - west) + (shared_face<1>(shared, x, y + 1) - south);
  if constexpr (AXES == 3) {
    above = through(face_of<2, REST>(r, of.mine, k + 1, plane + r.z));
    return out + (above - below);
  }
  return out;
}

template <int N, int AXES, class Through, class Update>
FN void balance_cells(const Range& r, Through through, Update update) {
  static_assert(N > 0 && BX <= 32, "faces are passed on within warps: #define BX 32, or less");
#ifdef TWICE_SHARED
  __shared__ real both[2][N][SHARED_FACES];
#else
  __shared__ real shared[N][SHARED_FACES];
#endif
  const Column c = column(r);
  if (c.begin >= c.end) return;  // all of the thread block
  const int width = blockDim.x, height = blockDim.y, i = c.i - int(threadIdx.x), j = c.j - int(threadIdx.y), me = c.i - i + (c.j - j) * width;
  const bool ends = i == r.lo[0] || i + width >= r.hi[0], rest = j == r.lo[1] || j + height >= r.hi[1];
  const int row = me < height ? me : 0, last = me < (height - 1) * width ? 0 : me - (height - 1) * width;
  const Places of{standing(r, c.i, c.j), standing(r, i + width, j + row), standing(r, i + last, j + height)};
  Values<N> below = {}, above = {};
  Index plane = c.begin * r.z;
  if constexpr (AXES == 3) below = through(face_of<2, true>(r, of.mine, c.begin, plane));
#pragma unroll 1
  for (int k = c.begin; k < c.end; ++k, plane += r.z) {
#ifdef TWICE_SHARED
    auto& shared = both[k & 1];
#endif
    Values<N> out;
    if (rest || (AXES == 3 && k + 1 == r.hi[2])) {
      out = leaving<AXES, true, true>(r, of, k, plane, below, above, shared, through);
    } else if (ends) {
      out = leaving<AXES, true, false>(r, of, k, plane, below, above, shared, through);
    } else {
      out = leaving<AXES, false, false>(r, of, k, plane, below, above, shared, through);
    }
    if (c.any) update(Cell{c.i, c.j, k, forgotten(of.mine.column + plane)}, out);
#ifndef TWICE_SHARED
    __syncthreads();
#endif
    below = above;
  }
}
