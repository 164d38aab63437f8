// Faces shared by the threads of a block: see faces.h.

#ifndef NARROWEST
#define NARROWEST 1
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif

// Shared faces: those across y of all cells in a plane and of one more row, and those across x beyond the last cells. Their number
// is limited, as shared memory reduces the cache: thread blocks are NARROWEST threads wide or more.
constexpr int SHARED_FACES = BX * BY + (BX + BY > NARROWEST + BX * BY / NARROWEST ? BX + BY : NARROWEST + BX * BY / NARROWEST);
template <int D>
FN int place(int x, int y) { return D == 0 ? (blockDim.y + 1) * blockDim.x + y : y * blockDim.x + x; }

// The same number, hidden from the compiler, so that it reloads the inputs of a face rather than keep them in registers.
FN Index forgotten(Index offset) {
  asm volatile("" : "+l"(offset));
  return offset;
}

// The thread's faces in all planes; outside the range, where nothing is used, at most one cell away from it
struct Standing {
  int i, j;
  Index column;
};
FN Standing standing(const Range& r, int i, int j) {
  i = i < r.hi[0] ? i : r.hi[0], j = j < r.hi[1] ? j : r.hi[1];
  return {i, j, i + j * r.y};
}

// A face of a thread. Warps without an end of the range take a path without the code for ends.
template <int D, class Through>
FN auto face_of(const Range& r, const Standing& s, int k, Index plane, Through through) {
  const int along = D == 0 ? s.i : D == 1 ? s.j : k;
  const Cell c{s.i, s.j, k, forgotten(s.column + plane)};
  const bool end = along == r.lo[D] || along == r.hi[D];
  return __any_sync(0xffffffffu, end) ? through(FaceOf<D>{c, end}) : through(FaceOf<D, true>{c, false});
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

// The value of the next thread along x, or the shared one for the last thread
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

template <int N, int AXES, class Through, class Update>
FN void balance_cells(const Range& r, Through through, Update update) {
  static_assert(N > 0 && BX <= 32, "faces are passed on within warps: #define BX 32, or less");
  __shared__ real buffers[BUFFERS][N][SHARED_FACES];
  const Column c = column(r);
  if (c.begin >= c.end) return;  // uniform over the thread block
  const int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y, behind = (height - 1) * width;
  const Standing mine = standing(r, c.i, c.j);
  Values<N> below = {};
  Index plane = (AXES == 3 ? c.begin - 1 : c.begin) * r.z;
#pragma unroll 1
  for (int k = AXES == 3 ? c.begin - 1 : c.begin; k < c.end; ++k, plane += r.z) {
    const bool whole = k >= c.begin;  // not only the faces above this plane
    Values<N> above = {}, out;
    auto& shared = buffers[k & (BUFFERS - 1)];
    if (whole) {
      // Beyond the last cells some threads do the faces across x, others those across y, before their own; other warps in each plane.
      const int me = (y * width + x + 32 * k) & (width * height - 1), row = me < height ? me : 0, last = me < behind ? 0 : me - behind;
      Values<N> west, south;
#pragma unroll 1
      for (int own = (me & ~31) >= height; own < 2; ++own) {
        west = face_of<0>(r, own ? mine : standing(r, c.i - x + width, c.j - y + row), k, plane, through);
        if (!own && me < height) put_face<0>(shared, width, me, west);
      }
#pragma unroll 1
      for (int own = (me | 31) < behind; own < 2; ++own) {
        south = face_of<1>(r, own ? mine : standing(r, c.i - x + last, c.j - y + height), k, plane, through);
        if (own ? y > 0 : me >= behind) put_face<1>(shared, own ? x : last, own ? y : height, south);
      }
      __syncthreads();
      out = (of_next(west, shared) - west) + (shared_face<1>(shared, x, y + 1) - south);
    }
    if constexpr (AXES == 3) above = face_of<2>(r, mine, k + 1, plane + r.z, through);
    if (whole) {
      if constexpr (AXES == 3) out = out + (above - below);
      if (c.any) update(Cell{c.i, c.j, k, forgotten(mine.column + plane)}, out);
      if constexpr (BUFFERS == 1) __syncthreads();
    }
    below = above;
  }
}
