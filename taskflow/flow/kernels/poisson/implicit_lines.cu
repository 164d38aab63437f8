// Lines of cells along one direction, each solved by the elimination of chain.h, all with mu = 2 / (dt diffusivity) and the
// same e, `leaks`, stored for one line. A GPU thread has one line, a CPU core eight adjacent lines.
#define UZ 1
#define BX 64
#define BY 1
#include "cell.h"
#include "chain.h"

// A line, or WIDTH of them: offset of its first node, and steps to the adjacent line and to the next node.
template <class V>
struct LineModes {
  static constexpr int N = 1;
  V stiff[N];
  Index first, beside, step;

  INLINE void load(const Planes& p, int k, V (&v)[N]) const { v[0] = fetch<V>(p.q + first + k * step, int(beside)); }
  INLINE void store(const Planes& p, int k, const V (&v)[N]) const { put<V>(p.q + first + k * step, int(beside), v[0]); }
  INLINE void load_own(const Planes& p, int k, V (&v)[N]) const { v[0] = V() + double(p.q[k]); }
  INLINE void store_own(const Planes& p, int k, const V (&v)[N]) const { put<double>(p.q + k, 1, lane(v[0])); }
  static INLINE double lane(V v) {
    if constexpr (WIDTH<V> == 1) return v;
    else return v[0];
  }
};

FN double stiffness(In64 dt, real diffusivity) { return 2.0 / (double(diffusivity) * *dt); }

struct FindLeaks {
  Spectrum s;
  Planes leaks;
  double mu;

  template <class V>
  INLINE void operator()(V, int, int) const {
    Lines<LineModes<V>, V>{s, {{V() + mu}, 0, 0, 0}, leaks, leaks}.prepare(0, s.cells[2]);
  }
};

struct SolveLine {
  Spectrum s;
  Planes values, leaks;
  double mu;
  Index first, beside, row, step;

  template <class V>
  INLINE void operator()(V, int i, int j) const {
    typedef LineModes<V> M;
    const M modes{{V() + mu}, first + i * beside + j * row, beside, step};
    V in[1] = {}, x[1] = {};
    Lines<M, V>{s, modes, values, leaks}.solve(Slab(s, 0), in, x);
  }
};

// op(V(), i, j) for `count` adjacent lines and `rows` rows of them
template <class Op>
FN void for_lines_along([[maybe_unused]] const Range& r, int count, int rows, Op op) {
#ifdef GPU
  const int at[3] = {int(blockIdx.x * blockDim.x + threadIdx.x), int(blockIdx.y * blockDim.y + threadIdx.y), int(blockIdx.z)};
  if (at[AXIS] == 0 && at[AXIS_R] < count && at[AXIS_S] < rows) op(0.0, at[AXIS_R], at[AXIS_S]);
#else
  for_lines(r, count, rows, op);
#endif
}

TASK find_leaks(Range range, Out leaks, In64 dt, real diffusivity, Spectrum s) {
  for_lines(range, 1, 1, FindLeaks{s, {leaks, 0, 0}, stiffness(dt, diffusivity)});
}

TASK solve_lines(Range range, InOut values, Foreign leaks, In64 dt, real diffusivity, Spectrum s) {
  FRAME(range)
  const Index first = range.lo[0] + range.lo[1] * Y + range.lo[2] * Z;
  const Planes all{values, 0, 0}, own{const_cast<real*>(leaks.field), 0, 0};
  for_lines_along(range, range.hi[AXIS_R] - range.lo[AXIS_R], range.hi[AXIS_S] - range.lo[AXIS_S],
                  SolveLine{s, all, own, stiffness(dt, diffusivity), first, R, S, N});
}
