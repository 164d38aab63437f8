// Arrays are read directly: see held.h.

struct HeldSteps {
  Index x, y, z;
  template <int D>
  INLINE Index of() const { return D == 0 ? x : D == 1 ? y : z; }
};
FN HeldSteps held_steps(const Range& r) { return {1, r.y, r.z}; }

template <int FIELDS, int DEEP, int VALUES, int OWN>
struct Holding {
  static constexpr unsigned bytes = 0;
  template <int N, class Q>
  INLINE static Q field(Q q) { return q; }
  template <int N, class Q>
  INLINE static Q own(Q q) { return q; }
  template <class Q>
  INLINE static Q values(Q q) { return q; }
};
template <class... Q>
FN None all(Q...) { return {}; }

template <int N, int AXES, class Memory, class Through, class Update, class Q>
FN void balance_held(const Range& r, Through through, Update update, None, None, Q) { balance_cells<N, AXES>(r, through, update); }
