/// # Types
/// real: float or double, chosen by the case. Write constants as `real(0.5)`
/// Index: offset of a cell in a field, 64 bits
/// In, Out, InOut: a field declared `Read`, `Write`, `ReadWrite`: `q[c]`, `q[c + X]`
/// InByte, InShort: a field of flags that is read, of 8 or 16 bits
/// In64: a `Scalar`, a number that changes between steps: `real(*dt)`
/// Partial: the result of a reduction
/// Foreign: a field of another region, read with `at`
/// ForeignOf<Number>: a field of another region in its own precision
/// Range: the cells of a launch: `lo`, `hi`
/// Cell: a cell: `c.i`, `c.j`, `c.k` are its global indices. It converts to its offset
/// None: the type of an optional parameter that a launch omits
/// InValues<N>, OutValues<N>, InOutValues<N>: a field of N values per cell: `q(c, n)`, in the cell above `q(c, n, 0, 0, 1)`
/// Sums<N>, Maxima<N>: N numbers of a cell, for `sum_cells` and `max_cells`: `{{a, b}}`
/// # Parts of a kernel
/// TASK: begins a kernel, a function with the name of its task: `TASK average(Range range, In a, Out b) { ... }`
/// FN: begins a function that kernels of the text call
/// RARE_FN: begins a function that few cells call. On a CPU it is not inlined, which shortens compilation
/// INLINE: begins a member function
/// STRIDES(range): declares X, Y, Z, the offsets of the neighbours along x, y, z
/// FRAME(range): declares N, R, S, X, Y, Z in a task that is turned to an axis or a face: N points along the axis, or into the domain
/// AXIS_R, AXIS_S: the numbers of the two other axes of a turned task
/// CELL(c): the function of a cell: `CELL(c) { b[c] = a[c]; }`
/// STORE(c, value): the function that stores the result of the previous one
/// BETWEEN(c, below, here, above): the function of a cell and of the results for it and for the cells below and above
/// TERM(c, own): the function of one term of an exact sum, and of the common values of a cell
/// OPTIONAL(name): an optional parameter, with its comma and type: `In w OPTIONAL(nu_t), Out w_new`
/// present<T>: true if T is not None
/// # Visiting cells
/// for_cells(range, f): calls f for every cell, in any order
/// RowFunction<F>{by_row}, for_row(from, to, j, k, row, f): on a CPU, for_cells with a function that does a row by its own loops
/// for_cells(range, interior, f): as above. On a GPU most interior cells are `c.inner` at compile time
/// split_rows(range, interior, f): as above. On a CPU separate loops visit amid cells, with `c.amid` at compile time
/// for_columns(range, interior, f): as above, in columns along z
/// change_cells(range, interior, load, store): store(c, load(c)), for tasks that change fields in place
/// most_cells(range, interior, usual, rare, any, store): store(c, any(c)), with the shorter usual(c) if rare(c) is false
/// Interior: bounds of interior cells along y and z: `{{low_y, low_z}, {high_y, high_z}}`
/// InteriorAmid: as above, with bounds along x within which cells are `c.amid`
/// Inner: an interior cell
/// everywhere(), nowhere(): all cells, or none, as an Interior
/// reduce_cells(range, partial, op, f): folds f(c) over all cells with op SUM, MAX or MIN
/// sum_cells(range, partials, f): several sums, f(c) being a Sums<N>
/// max_cells(range, partials, carried, f): several maxima of f(c, below, here, above)
/// SUM, MAX, MIN: the operations of reductions. MAX and MIN of a NaN are NaN
/// Max, Min, Sum: their types
/// size(range, axis): the number of cells of a range along an axis
/// share(range, count, f): f(first, last, backward) on each CPU thread, for its share of `count`
/// PLANES: a setting, the planes that a CPU thread takes at a time
/// # Indices and neighbours
/// index(c, axis): the global index of a cell along an axis
/// beside(c, n): the cell n further along x
/// at(field, i, j, k), at(field, c), at(field, c, axis, n): the value of a foreign field
/// place(field, c): its address
/// # Further numbers
/// magnitude(a): absolute value of a real number
/// bits_of(a): the bits of a number, an unsigned integer
/// number_of(bits): the number that has these bits
/// larger(a, b): the larger of two real numbers, or NaN
/// taken(take, value): the value, or 0 if `take` is false, even for a NaN
/// loaded(): orders the loads of a cell before its stores, on a GPU
/// INFINITE: infinity, a double
/// ROOT: square root of a double, rounded correctly
// The vocabulary of kernel texts: one text, compiled by NVRTC for GPUs and by the host C++ compiler for CPU cores.
//
// A kernel says what happens in a cell; the machine decides who visits the cells:
//
//   TASK jacobi(Range range, In p, In rhs, Out p_new, Grid grid) {
//     STRIDES(range)
//     for_cells(range, CELL(c) { p_new[c] = ... p[c - X] ... p[c + Z] ...; });
//   }
//
// Per file, before this header is included: `#define UZ n` gives each GPU thread a column of n cells along z (default 1), so that
// the compiler keeps z-neighbours in registers; `#define UNROLL n` unrolls n of them (at most 8 by default);
// `#define BX n` and `#define BY n` set the largest thread block (default 128 x 4); `#define RESIDENT n` limits the registers of
// a thread such that n thread blocks fit on a multiprocessor (by default the compiler decides, sparingly). Such a number may be
// `(sizeof(REAL) == 4 ? m : n)`. Nothing here depends on -ffast-math or contraction: results are bitwise identical for every
// thread count, block and device split.

typedef long long Index;  // one GPU holds more than 2^31 cells
typedef REAL real;        // float or double, chosen by the case
typedef const real* __restrict__ In;
typedef const unsigned char* __restrict__ InByte;  // flags
typedef const unsigned short* __restrict__ InShort;
typedef real* __restrict__ Out;
typedef real* __restrict__ InOut;
typedef const double* In64;  // a named number that changes between steps, in device memory

// The cells lo <= (i, j, k) < hi, in global indices. Fields are passed as if their memory began at cell (0, 0, 0): the
// offset of a cell is i + j y + k z in every field of a block. `threads` of a CPU share them. Marching thread blocks of a GPU
// (twice.h) pass through `march` planes.
struct Range {
  int lo[3], hi[3];
  Index y, z;
  int threads, march;
#if defined(LISTED) && defined(GPU)
  uint3 block, blocks;  // of a list: the thread block within its piece, and the number of them, see pieces_cuda.h
#endif
};

// A field of another region, with its own indices: `at(r, 2 * c.i, 2 * c.j, 2 * c.k)`.
template <class Number>
struct ForeignOf {
  const Number* __restrict__ field;
  Index y, z;
};
typedef ForeignOf<real> Foreign;

// The result of a reduction, with memory for the parts that are folded in order (`ticket` counts thread blocks,
// GPU only).
struct Partial {
  double* result;
  double* parts;
  unsigned* ticket;
  const double* before;  // the result of earlier boxes of the launch, or null
#if defined(LISTED) && defined(GPU)
  double* values;  // of a list: results of all its pieces, which the last one to finish folds in order
  unsigned* finished;
  unsigned piece, pieces;
#endif
};

#ifdef GPU
#define INLINE __device__ __forceinline__
#define FN INLINE
#define RARE_FN FN
#define CELL(c) [=](auto c)
#define STORE(c, value) [=](auto c, auto value)
#define BETWEEN(c, below, here, above) [=](auto c, auto below, auto here, auto above)
#define TERM(c, own) [=](auto c, const auto& own)
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define ROOT __dsqrt_rn
#else
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define FN static INLINE
#define RARE_FN static __attribute__((noinline, unused))
#define CELL(c) [=](auto c) __attribute__((always_inline))
#define STORE(c, value) [=](auto c, auto value) __attribute__((always_inline))
#define BETWEEN(c, below, here, above) [=](auto c, auto below, auto here, auto above) __attribute__((always_inline))
#define TERM(c, own) [=](auto c, const auto& own) __attribute__((always_inline))
#define INFINITE __builtin_huge_val()
#define ROOT __builtin_sqrt
#endif

#define STRIDES(range)                                \
  [[maybe_unused]] constexpr Index X = 1;             \
  [[maybe_unused]] const Index Y = (range).y;         \
  [[maybe_unused]] const Index Z = (range).z;

// A task oriented to an axis, or to a face of the domain: AXIS is the number of the axis (normal to the face), HIGH whether
// the face is a high one. N is the step along the axis, or from the face into the domain; R and S are the steps along the other
// two axes, which have the numbers AXIS_R and AXIS_S: `index(c, AXIS_R)`.
#define AXIS_R (AXIS == 0 ? 1 : 0)
#define AXIS_S (AXIS == 2 ? 1 : 2)
#define FRAME(range)                                                                         \
  STRIDES(range)                                                                             \
  [[maybe_unused]] const Index N = (HIGH ? -1 : 1) * (AXIS == 0 ? X : AXIS == 1 ? Y : Z);    \
  [[maybe_unused]] const Index R = AXIS == 0 ? Y : X, S = AXIS == 2 ? Y : Z;

// Among the parameters `OPTIONAL(nu_t)` includes its comma and its type: `In w OPTIONAL(nu_t), Out w_new`. If a launch omits it,
// nu_t is a None, for which functions can be overloaded and which leaves no machine code.
#define OPTIONAL(name) OPTIONAL_##name
struct None {};
FN None operator+(None, Index) { return {}; }
template <class T>
constexpr bool present = true;
template <>
constexpr bool present<None> = false;
template <>
constexpr bool present<const None> = false;
#ifdef GPU
#define ABSENT(name) static __device__ constexpr None name{};
#else
#define ABSENT(name) static constexpr None name{};
#endif

// A cell: global indices, and its offset in every field. For `inner` and `amid` see below and twice.h.
struct Cell {
  static constexpr bool inner = false, amid = false;
  int i, j, k;
  Index offset;
  INLINE operator Index() const { return offset; }
};

// The cell `cells` further along x
FN Cell beside(const Cell& c, int n) { return {c.i + n, c.j, c.k, c.offset + n}; }

// A field of N values per cell: `A(c, n)` is value n of a cell, `A(c, n, 0, 0, 1)` of its neighbour above. The layout is
// [z][y][n][x]: adjacent cells along x are contiguous in memory.
template <int N, class Number>
struct ValuesOf {
  Number* __restrict__ field;
  Index row, plane;
  INLINE Number& operator()(const Cell& c, int n, int x = 0, int y = 0, int z = 0) const {
    return field[c.i + N * (c.offset - c.i) + x + (y * N + n) * row + z * plane];  // rows are N times as far apart as in a field of single values
  }
};
template <int N>
using InValues = ValuesOf<N, const real>;
template <int N>
using OutValues = ValuesOf<N, real>;
template <int N>
using InOutValues = ValuesOf<N, real>;

// The global index of a cell along an axis
FN int index(const Cell& c, int axis) { return axis == 0 ? c.i : axis == 1 ? c.j : c.k; }

// Cells from `low` to `high` along y and z, inclusive: with `for_cells(range, interior, f)` a GPU calls f with an Inner instead
// of a Cell for most of them, so that f can skip work that only cells near faces need. This is known at compile time:
// `if constexpr (c.inner)`. Expressions of x alone are computed once per column. An Inner is the n-th of the unrolled cells; if
// `pairs`, k = 2 half + odd, with `odd` also known at compile time.
struct Interior {
  int low[2], high[2];
  bool pairs;
};
// Inner cells from `left` to `right` along x are also `amid`, in warps without others. That is a second copy of f's code and
// takes registers: not every kernel gains by it.
struct InteriorAmid : Interior {
  int left, right;
};
FN Interior everywhere() { return {{-0x7fffffff, -0x7fffffff}, {0x7fffffff, 0x7fffffff}, false}; }
FN Interior nowhere() { return {{1, 1}, {0, 0}, false}; }
template <bool AMID>
struct InnerOf : Cell {
  static constexpr bool inner = true, amid = AMID;
  int n, half, odd;
};
using Inner = InnerOf<false>;

template <class Number>
FN real at(const ForeignOf<Number>& r, int i, int j, int k) {
  return real(r.field[i + j * r.y + k * r.z]);
}

// The same, `cells` further along an axis: on the face of an oriented task, from the ghost cell beyond it,
// `at(values, c, AXIS, HIGH ? 0 : 1)`
template <class Number>
FN real at(const ForeignOf<Number>& r, const Cell& c, int axis, int cells) {
  return at(r, c.i + (axis == 0 ? cells : 0), c.j + (axis == 1 ? cells : 0), c.k + (axis == 2 ? cells : 0));
}

// The position of a cell in a field of another region; Inner cells share the address of the first.
template <class Number>
FN const Number* place(const ForeignOf<Number>& r, Cell c) {
  return r.field + (c.i + c.j * r.y + c.k * r.z);
}
template <class Number, bool AMID>
FN const Number* place(const ForeignOf<Number>& r, InnerOf<AMID> c) {
  return r.field + (c.i + c.j * r.y + (c.k - c.n) * r.z) + c.n * r.z;
}
template <class Number, class C>
FN real at(const ForeignOf<Number>& r, C c) {
  return real(*place(r, c));
}

// Operators of reductions. NaN wins every comparison: a field with a NaN has no maximum.
struct Sum {
  static INLINE double identity() { return 0.0; }
  static INLINE double fold(double a, double b) { return a + b; }
};
struct Max {
  static INLINE double identity() { return -INFINITE; }
  static INLINE double fold(double a, double b) { return (b > a) | (b != b) ? b : a; }
};
struct Min {
  static INLINE double identity() { return INFINITE; }
  static INLINE double fold(double a, double b) { return (b < a) | (b != b) ? b : a; }
};
// Contributions of a cell to several sums: `sum_cells(range, {first, second}, CELL(c) { return Sums<2>{{a, b}}; });`
template <int N>
struct Sums {
  double of[N];
};
// Contributions of a cell to several maxima:
// `max_cells(range, {first, second}, CELL(c) { return Shared{...}; }, BETWEEN(c, below, here, above) { return Maxima<2>{{a, b}}; });`
template <int N>
struct Maxima {
  real of[N];
};

// NaN wins here too.
#if defined(GPU) && __CUDA_ARCH__ >= 800
FN float larger(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}
FN double larger(double a, double b) { return (b > a) | (b != b) ? b : a; }
#else
FN real larger(real a, real b) { return (b > a) | (b != b) ? b : a; }
#endif
#ifdef GPU
FN real magnitude(real a) { return abs(a); }
#else
FN real magnitude(real a) { return a < 0 ? -a : a; }
#endif

// The bits of a number, and the number that has them
template <class To, class From>
FN To with_bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
FN unsigned bits_of(float a) { return with_bits_of<unsigned>(a); }
FN unsigned long long bits_of(double a) { return with_bits_of<unsigned long long>(a); }
FN float number_of(unsigned bits) { return with_bits_of<float>(bits); }
FN double number_of(unsigned long long bits) { return with_bits_of<double>(bits); }

#include "functions.h"
#include "several.h"

#define SUM Sum()
#define MAX Max()
#define MIN Min()

#ifdef GPU
#include "visit_cuda.h"
#include "fold_cuda.h"
#else
#include "visit_host.h"
#endif
#include "exact.h"

// Between the loads and the stores of a cell with many fields. A GPU issues stores as soon as possible, and later loads then wait
// for them: momentum took 8 to 17 ms instead of 3.3 on an H200 (512^3, single precision).
FN void loaded() {
#ifdef GPU
  __threadfence_block();
#endif
}

// The value, or 0 if `take` is false, even for a NaN. The choice is the same for the whole range.
#ifdef GPU
FN real taken(bool take, real value) { return take ? value : real(0); }
#else
// Masks the bits: two such conditionals in one loop (here and at walls) would keep GCC from vectorizing it.
FN float taken(bool take, float value) { return number_of(bits_of(value) & (take ? ~0u : 0u)); }
FN double taken(bool take, double value) { return number_of(bits_of(value) & (take ? ~0ull : 0ull)); }
#endif

#include "roots.h"
#include "declared.h"  // generated from the tasks: the structs of their constants, and a prototype per kernel
