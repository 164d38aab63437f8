// Faces shared by the threads of a block: see faces.h.

// Faces that threads share: those across y of all cells in a plane, and of a row more; those across x beyond the last cells.
constexpr int SHARED_FACES = 2 * BX * BY + 1;
template <int D>
FN int place(int x, int y) { return D == 0 ? (blockDim.y + 1) * blockDim.x + y : y * blockDim.x + x; }

// The same number, of which the compiler knows nothing: it loads what one face needs again for the next, rather than keep it.
FN Index forgotten(Index offset) {
  asm volatile("" : "+l"(offset));
  return offset;
}

// A face of a column, where that is beyond the range one at its end
template <int D>
FN FaceOf<D> face_at(const Range& r, int i, int j, int k) {
  i = i < r.hi[0] + (D == 0) ? i : r.hi[0] - (D != 0), j = j < r.hi[1] + (D == 1) ? j : r.hi[1] - (D != 1);
  const int along = D == 0 ? i : D == 1 ? j : k;
  return {{i, j, k, forgotten(i + j * r.y + k * r.z)}, along == r.lo[D] || along == r.hi[D]};
}

template <int D, int N>
FN void put_face(real (&shared)[N][SHARED_FACES], int x, int y, const Values<N>& face) {
#pragma unroll
  for (int m = 0; m < N; ++m) shared[m][place<D>(x, y)] = face.of[m];
}

// The faces that cells of this thread block have in a plane beyond its last cells: a few warps do them.
template <int N, class Through>
FN void put_last_faces(const Range& r, const Column& c, int k, real (&shared)[N][SHARED_FACES], Through through) {
  const int width = blockDim.x, height = blockDim.y, me = threadIdx.y * width + threadIdx.x, x = me - (height - 1) * width;
  const int i = c.i - int(threadIdx.x), j = c.j - int(threadIdx.y);
  if (me < height) put_face<0>(shared, width, me, through(face_at<0>(r, i + width, j + me, k)));
  if (x >= 0) put_face<1>(shared, x, height, through(face_at<1>(r, i + x, j + height, k)));
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

template <int N, int AXES, class Through, class Update>
FN void balance_cells(const Range& r, Through through, Update update) {
  static_assert(N > 0 && BX <= 32, "faces are passed on within warps: #define BX 32, or less");
  __shared__ real shared[N][SHARED_FACES];
  const Column c = column(r);
  if (c.begin >= c.end) return;  // all of the thread block
  const int x = threadIdx.x, y = threadIdx.y;
  Values<N> below = {};
#pragma unroll 1
  for (int k = AXES == 3 ? c.begin - 1 : c.begin; k < c.end; ++k) {
    const bool whole = k >= c.begin;  // not only the faces above this plane
    Values<N> above = {}, out;
    if (whole) {
      const Values<N> west = through(face_at<0>(r, c.i, c.j, k));
      put_face<1>(shared, x, y, through(face_at<1>(r, c.i, c.j, k)));
      put_last_faces(r, c, k, shared, through);
      __syncthreads();
      out = (of_next(west, shared) - west) + (shared_face<1>(shared, x, y + 1) - shared_face<1>(shared, x, y));
    }
    if constexpr (AXES == 3) above = through(face_at<2>(r, c.i, c.j, k + 1));
    if (whole) {
      if constexpr (AXES == 3) out = out + (above - below);
      if (c.any) update(Cell{c.i, c.j, k, forgotten(c.i + c.j * r.y + k * r.z)}, out);
      __syncthreads();
    }
    below = above;
  }
}
