/// # Finite volumes: `#include "faces.h"`
/// balance_cells<N, AXES>(range, through, update): through(f) makes N numbers of a face; update(c, out) has the sums of what leaves a cell
/// Values<N>: N numbers of a face
/// step<AXIS>(range): the offset between neighbours along an axis
/// end_face(c, high, step): the low face of a cell, or the high one, at an end of a range
// Finite volumes: what passes a face is found once, and taken by the cells on both of its sides.
//
//   TASK spread(Range range, In q, Out q_new) {
//     STRIDES(range)
//     balance_cells<1, 3>(range, CELL(f) { return Values<1>{{q[f] - q[f - step<f.axis>(range)]}}; },
//                         STORE(c, out) { q_new[c] = q[c] + out.of[0]; });
//   }
//
// `through(f)` makes N numbers of a face, which is the low face of the cell f across f.axis, and `update(c, out)` has the sums over
// the axes of those of a cell's high face less those of its low one. Every split of a range gives the same bits.
//
// On a GPU each thread block marches along z, through columns of UZ cells. Its threads have a face across each axis in a plane;
// they pass on those across x and y through shared memory, and take those across z along. A few warps do the faces at the high
// ends of the tile, too. Beyond a range, faces of cells one away from it may be made, and left. `#define NARROWEST n` is the
// least width of a thread block (default 1), for less shared memory; of that there are BUFFERS (2, so that warps may be a plane
// apart, or 1). A CPU marches through tiles of rows, with buffers of faces in its first caches.

template <int N>
struct Values {
  real of[N];
};
// Written out: of loops over numbers GCC makes vectors of numbers, and none of cells.
template <int N, int n = 0>
FN Values<N> operator+(Values<N> a, Values<N> b) {
  a.of[n] += b.of[n];
  if constexpr (n + 1 < N) return operator+<N, n + 1>(a, b);
  return a;
}
template <int N, int n = 0>
FN Values<N> operator-(Values<N> a, Values<N> b) {
  a.of[n] -= b.of[n];
  if constexpr (n + 1 < N) return operator-<N, n + 1>(a, b);
  return a;
}

// The low face across axis D of a cell. It is known to be `within`, between two cells of the range, when the text is compiled,
// or only then when it is reached: at an `end` of the range along D, or not.
template <int D, bool WITHIN = false>
struct FaceOf : Cell {
  static constexpr int axis = D;
  static constexpr bool within = WITHIN;
  bool end;
};

// The distance of cells along an axis
template <int D>
FN Index step(const Range& r) { return D == 0 ? 1 : D == 1 ? r.y : r.z; }

// The low face of a cell, or the high one, at an end of a range
template <int D>
FN FaceOf<D> end_face(const Cell& c, bool high, Index step) {
  return {{c.i + (high && D == 0), c.j + (high && D == 1), c.k + (high && D == 2), c.offset + high * step}, true};
}

#ifdef GPU
#include "faces_cuda.h"
#else
#include "faces_host.h"
#endif
