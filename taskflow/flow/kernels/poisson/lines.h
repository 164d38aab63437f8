// Lines of cells along z, one per GPU thread, or eight in the vector registers of a CPU core.
//
// Kernels of lines are written for a number V: a double on a GPU, eight doubles of neighbours along x on a CPU.
// Fields store values as real. Computations are in double precision. SINE(x) is sin(pi x).

#ifdef GPU
#define SINE(x) sinpi(x)
#define COSINE(x) cospi(x)
#else
#define SINE(x) __builtin_sin(3.14159265358979323846 * (x))
#define COSINE(x) __builtin_cos(3.14159265358979323846 * (x))
typedef double Wide __attribute__((vector_size(64)));
#endif

template <class V>
constexpr int WIDTH = sizeof(V) / sizeof(double);

// f(l) for every number l of a V
template <class V, class F>
FN V each(F f) {
  if constexpr (WIDTH<V> == 1) {
    return f(0);
  } else {
    V v;
    for (int l = 0; l < WIDTH<V>; ++l) v[l] = f(l);
    return v;
  }
}

// The root for the mean mode is infinite, which roots.h does not allow.
template <class V>
FN V roots(V v) {
  if constexpr (WIDTH<V> == 1) return ROOT(v);
  else return each<V>([&](int l) { return ROOT(v[l]); });
}

// Values at q, q + step, ...
template <class V>
FN V fetch(const real* q, int step) {
  if constexpr (WIDTH<V> == 1) {
    return *q;
  } else {
    double v[WIDTH<V>];
    for (int l = 0; l < WIDTH<V>; ++l) v[l] = q[l * step];
    V result;
    memcpy(&result, v, sizeof(v));
    return result;
  }
}

template <class V>
FN void put(real* q, int step, V value) {
  if constexpr (WIDTH<V> == 1) {
    *q = real(value);
  } else {
    double v[WIDTH<V>];
    memcpy(v, &value, sizeof(v));
    for (int l = 0; l < WIDTH<V>; ++l) q[l * step] = real(v[l]);
  }
}

// op(V(), i, j) for adjacent numbers i = 0 .. count - 1, WIDTH<V> of them together, and rows j = 0 .. rows - 1
template <class Op>
FN void for_lines([[maybe_unused]] const Range& r, int count, int rows, Op op) {
#ifdef GPU
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x), j = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (i < count && j < rows) op(0.0, i, j);
#else
  share(r, rows, [=](Index first, Index last, bool) {
    for (int j = int(first); j < int(last); ++j) {
      int i = 0;
      for (; i + WIDTH<Wide> <= count; i += WIDTH<Wide>) op(Wide(), i, j);
      for (; i < count; ++i) op(0.0, i, j);
    }
  });
#endif
}
