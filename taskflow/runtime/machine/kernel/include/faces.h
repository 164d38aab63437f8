/// # Finite volumes: `#include "faces.h"`
/// balance_cells<N, AXES>(range, through, update): through(f) returns N numbers of a face, update(c, out) gets the net outflow of a cell
/// Values<N>: N numbers of a face
/// step<AXIS>(range): the offset between neighbours along an axis
/// end_face(c, high, step): the low face of a cell, or the high one, at an end of a range
// Finite volumes: the flux through a face is computed once, and used by the cells on both sides.
//
//   TASK spread(Range range, In q, Out q_new) {
//     STRIDES(range)
//     balance_cells<1, 3>(range, CELL(f) { return Values<1>{{q[f] - q[f - step<f.axis>(range)]}}; },
//                         STORE(c, out) { q_new[c] = q[c] + out.of[0]; });
//   }
//
// `through(f)` returns N numbers of a face, the low face of the cell f across f.axis. `update(c, out)` gets the sum over the axes
// of the difference between a cell's high and low face. Results are bitwise identical for every split of a range.
//
// On a GPU each thread block marches along z, through columns of UZ cells. Its threads have a face across each axis in a plane;
// they exchange faces across x and y through shared memory, and keep faces across z in registers. A few warps also do the faces at
// the high ends of the tile. Faces of cells one beyond a range may be computed and discarded. `#define NARROWEST n` is the least
// width of a thread block (default 1), to save shared memory; this holds BUFFERS planes (2, so that warps may be a plane apart, or
// 1). A CPU marches through tiles of rows, with buffers of faces in its first-level caches.

template <int N>
struct Values {
  real of[N];
};
// Recursive: GCC vectorizes loops over numbers, and then no loop over cells.
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

// The low face across axis D of a cell. Whether it is `within` the range, between two of its cells, is known at compile time;
// otherwise `end` tells at run time whether it is at an end of the range along D.
template <int D, bool WITHIN = false>
struct FaceOf : Cell {
  static constexpr int axis = D;
  static constexpr bool within = WITHIN;
  bool end;
};

// The stride of cells along an axis
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
