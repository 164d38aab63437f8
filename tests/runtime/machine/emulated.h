// What a text for GPUs uses of CUDA, for a host compiler. The thread blocks of a launch run one after the other; the threads of one
// are fibers that change places where they wait for each other.
#pragma GCC optimize("O1")
#define GPU
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include <memory>
#include <vector>

#define __device__
#define __global__
#define __grid_constant__
#define __shared__ static
#define __constant__ static
// Hidden: shared memory is a static variable of an inline function, of which a process has one, by its name, and not one for each library
#define __forceinline__ inline __attribute__((always_inline, visibility("hidden")))
#define __launch_bounds__(...)

namespace emulation {
constexpr unsigned long STACK = 1 << 18;
struct Three {
  unsigned x, y, z;
};
struct Copy {
  void* to;
  const void* from;
  unsigned long size;
};
struct Fiber {
  jmp_buf place;  // where it goes on
  std::unique_ptr<char[]> stack{new char[STACK]};  // of which what is never touched takes no memory
  Three index;
  bool begun = false, done = false;
  std::vector<Copy> copies;  // that it has begun
};
struct Meeting {  // of some threads: how many have come, and how often all of them had
  unsigned come = 0, times = 0;
};
static std::vector<Fiber> fibers;
static jmp_buf scheduler;
static unsigned current, alive;
static Meeting block, part, lanes[1024];
static unsigned long long slots[1024];
static void (*kernel)(void**);
static void** arguments;
}  // namespace emulation
typedef emulation::Three uint3;
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
static emulation::Three threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {
inline void give_way() {
  if (!_setjmp(fibers[current].place)) _longjmp(scheduler, 1);
}
inline void meet(Meeting& meeting, unsigned expected) {
  const unsigned before = meeting.times;
  if (++meeting.come == expected) {
    meeting.come = 0, ++meeting.times;
    return;
  }
  while (meeting.times == before) give_way();
}
inline unsigned long long nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}
inline void run_fiber() {  // a thread of a block, then one of the next
  for (;;) {
    kernel(arguments);
    fibers[current].done = true;
    if (--alive && block.come == alive) block.come = 0, ++block.times;  // those that wait do so for threads that are there
    give_way();
  }
}
inline void resume(Fiber& fiber) {
  if (_setjmp(scheduler)) return;
  if (fiber.begun) _longjmp(fiber.place, 1);
  fiber.begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get(), context.uc_stack.ss_size = STACK;
  makecontext(&context, run_fiber, 0);
  setcontext(&context);
}
inline void run_block(unsigned threads, bool backward) {
  alive = threads, block = part = {};
  for (unsigned n = 0; n < threads; ++n) {
    fibers[n].done = false, fibers[n].copies.clear(), lanes[n] = {};
    fibers[n].index = {n % blockDim.x, n / blockDim.x % blockDim.y, n / (blockDim.x * blockDim.y)};
  }
  while (alive) {
    for (unsigned n = 0; n < threads; ++n) {
      current = backward ? threads - 1 - n : n;
      if (fibers[current].done) continue;
      threadIdx = fibers[current].index;
      resume(fibers[current]);
    }
  }
}
// What is copied arrives when its thread waits; until then there are NaNs, so that whoever reads too early, or what was there, fails.
template <class Number>
inline void begin_copy(Number* to, const Number* from) {
  memset(to, 0xff, sizeof *to);
  fibers[current].copies.push_back({to, from, sizeof *to});
}
inline void end_copies() {
  for (const Copy& copy : fibers[current].copies) memcpy(copy.to, copy.from, copy.size);
  fibers[current].copies.clear();
}
// Whether a lane of this warp is in a mask, and a thread of the block
inline bool is_there(unsigned mask, unsigned lane) {
  return mask >> lane & 1 && current / 32 * 32 + lane < blockDim.x * blockDim.y * blockDim.z;
}
// The lanes of a mask meet before they read what others have put down, and before that is written over.
template <class Value, class Look>
inline auto exchanged(unsigned mask, Value value, Look look) {
  const unsigned warp = current / 32 * 32;
  Meeting& meeting = lanes[warp + __builtin_ctz(mask)];
  unsigned expected = 0;
  for (unsigned n = 0; n < 32; ++n) expected += is_there(mask, n);
  __builtin_memcpy(&slots[current], &value, sizeof value);
  meet(meeting, expected);
  const auto of = [&](unsigned lane) {
    Value there;
    __builtin_memcpy(&there, &slots[warp + lane], sizeof there);
    return there;
  };
  const auto seen = look(of);
  meet(meeting, expected);
  return seen;
}
}  // namespace emulation

inline void __syncthreads() { emulation::meet(emulation::block, emulation::alive); }
template <class Value>
inline Value __shfl_sync(unsigned mask, Value value, int lane, int width = 32) {
  return emulation::exchanged(mask, value, [=](auto of) { return of(emulation::current % 32 / width * width + lane); });
}
template <class Value>
inline Value __shfl_down_sync(unsigned mask, Value value, unsigned n) {
  const unsigned lane = emulation::current % 32;
  return emulation::exchanged(mask, value, [=](auto of) { return of(lane + n < 32 ? lane + n : lane); });
}
inline unsigned __ballot_sync(unsigned mask, bool here) {
  return emulation::exchanged(mask, here, [=](auto of) {
    unsigned all = 0;
    for (unsigned n = 0; n < 32; ++n)
      if (emulation::is_there(mask, n)) all |= unsigned(of(n)) << n;
    return all;
  });
}
inline bool __any_sync(unsigned mask, bool here) { return __ballot_sync(mask, here); }
inline bool __all_sync(unsigned mask, bool here) { return !__any_sync(mask, !here); }
inline unsigned __popc(unsigned bits) { return __builtin_popcount(bits); }
inline void __syncwarp() { __all_sync(0xffffffffu, true); }
template <class Value>
inline unsigned __cvta_generic_to_shared(Value*) { return 0; }
inline void __threadfence() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { emulation::give_way(); }
inline void __threadfence_block() {}
inline unsigned atomicAdd(unsigned* number, unsigned more) {
  const unsigned before = *number;
  *number += more;
  return before;
}
template <class Value>
inline Value __ldcg(const Value* from) {
  return *from;
}
inline double __longlong_as_double(long long bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
template <class A>
inline A min(A a, A b) { return b < a ? b : a; }
template <class A>
inline A max(A a, A b) { return a < b ? b : a; }

extern "C" void emulate(void (*kernel)(void**), void** arguments, const unsigned* grid, const unsigned* threads) {
  const unsigned count = threads[0] * threads[1] * threads[2];
  if (emulation::fibers.size() < count) emulation::fibers.resize(count);
  emulation::kernel = kernel, emulation::arguments = arguments;
  gridDim = {grid[0], grid[1], grid[2]}, blockDim = {threads[0], threads[1], threads[2]};
  for (unsigned n = 0; n < grid[0] * grid[1] * grid[2]; ++n) {
    blockIdx = {n % grid[0], n / grid[0] % grid[1], n / (grid[0] * grid[1])};
    emulation::run_block(count, n & 1);
  }
}
