// Faces shared by the threads of a block: see faces.h.

// Numbers of the faces across x and y in a plane of a thread block, of any shape that has BX x BY threads at most: rows with a face
// more than cells, and then a row more than those of cells.
constexpr int SHARED_FACES = 3 * BX * BY + 1;
template <int D>
FN int shared_face(int x, int y) {
  const int width = blockDim.x, height = blockDim.y;
  return D == 0 ? y * (width + 1) + x : (width + 1) * height + y * width + x;
}

// The same number, of which the compiler knows nothing: it loads what one face needs again for the next, rather than keep it.
FN Index forgotten(Index offset) {
  asm volatile("" : "+l"(offset));
  return offset;
}

// All faces across D that cells of this thread block have in a plane: each thread its own, and some those beyond the last cells.
template <int D, int N, class Through>
FN void share_faces(const Range& r, const Column& c, int k, real (&shared)[N][SHARED_FACES], Through through) {
  const int threads = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
  const int beyond = D == 0 ? me : me - (threads - int(blockDim.x)), count = D == 0 ? blockDim.y : blockDim.x;
  int x = threadIdx.x, y = threadIdx.y;
#pragma unroll 1
  for (int n = 0; n < 2; ++n) {
    const int i = c.i - int(threadIdx.x) + x, j = c.j - int(threadIdx.y) + y;
    if (i < r.hi[0] + (D == 0) && j < r.hi[1] + (D == 1)) {
      const int along = D == 0 ? i : j;
      const Values<N> face = through(FaceOf<D>{{i, j, k, forgotten(i + j * r.y + k * r.z)}, along == r.lo[D] || along == r.hi[D]});
#pragma unroll
      for (int m = 0; m < N; ++m) shared[m][shared_face<D>(x, y)] = face.of[m];
    }
    if (beyond < 0 || beyond >= count) break;
    x = D == 0 ? blockDim.x : beyond, y = D == 0 ? beyond : blockDim.y;
  }
}

template <int D, int N>
FN Values<N> across(const real (&shared)[N][SHARED_FACES]) {
  const int x = threadIdx.x, y = threadIdx.y;
  Values<N> out;
#pragma unroll
  for (int m = 0; m < N; ++m) out.of[m] = shared[m][shared_face<D>(x + (D == 0), y + (D == 1))] - shared[m][shared_face<D>(x, y)];
  return out;
}

template <int N, int AXES, class Through, class Update>
FN void balance_cells(const Range& r, Through through, Update update) {
  __shared__ real shared[N][SHARED_FACES];
  const Column c = column(r);
  if (c.begin >= c.end) return;  // all of the thread block
  const Index column = c.i + c.j * r.y;
  Values<N> below = {};
#pragma unroll 1
  for (int k = AXES == 3 ? c.begin - 1 : c.begin; k < c.end; ++k) {
    const bool whole = k >= c.begin;  // not only the faces between this plane and the next
    Values<N> out;
    if (whole) {
      share_faces<0>(r, c, k, shared, through);
      share_faces<1>(r, c, k, shared, through);
      __syncthreads();
      out = across<0>(shared) + across<1>(shared);
    }
    if (c.any) {
      if constexpr (AXES == 3) {
        const Values<N> above = through(FaceOf<2>{{c.i, c.j, k + 1, forgotten(column + (k + 1) * r.z)}, k + 1 == r.lo[2] || k + 1 == r.hi[2]});
        out = out + (above - below), below = above;
      }
      if (whole) update(Cell{c.i, c.j, k, forgotten(column + k * r.z)}, out);
    }
    if (whole) __syncthreads();
  }
}
