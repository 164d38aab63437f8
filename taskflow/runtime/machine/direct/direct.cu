// Operations of blocks on GPUs of one host in each other's memory: copies into ghost cells, flags that count passes,
// waits with a time limit, and reductions in a fixed order.
//
// A flag counts how often its event has happened. The block that posts it and the block that waits for it have their
// own counts: nothing is ever reset, and a flag may be ahead of the count.
#include "cell.h"
#include "flags.h"

// Earlier work on this stream, on this GPU and in the memory of others, is visible before the flags are.
extern "C" __global__ void post(const __grid_constant__ Flags flags) {
  __threadfence_system();
  post_flags(flags);
}

// Later work on this stream sees the effects of the awaited events.
extern "C" __global__ void await(const __grid_constant__ Flags flags, const __grid_constant__ Watch watch) {
  await_flags(flags, watch);
  __syncthreads();
  count_awaited(flags);
}

// Numbers folded over all blocks in their order, by every block for itself with bitwise identical results. Blocks
// without a share pass the operators' identities. `slots` and `flags` point into the memory of each block. A slot holds
// this block's share of the first number, by parity of the count, since a block may be one fold ahead of another that
// still reads; the share of the next number is two rows of all blocks further.
constexpr int NUMBERS = 32;  // MOST_REDUCTIONS of a task

struct Shares {
  double* value[NUMBERS];
  double identity[NUMBERS];
  int kind[NUMBERS];       // 0: sum, 1: maximum, 2: minimum
  double* mine;            // [numbers][2][blocks]
  unsigned* arrived;       // [blocks]
  unsigned* count;         // folds so far
  double* const* slots;    // of block n, where [number][parity * blocks] is this block's place
  unsigned* const* flags;  // of block n, this block's flag
  int numbers, contributes, blocks;
  unsigned name;
};

template <class Op>
FN double folded(const volatile double* shares, int blocks) {
  double value = shares[0];
  for (int n = 1; n < blocks; ++n) value = Op::fold(value, shares[n]);
  value += 0.0;  // one form of zero and of NaN: their order may depend on the processor
  return value != value ? __longlong_as_double(0x7ff8000000000000LL) : value;
}

extern "C" __global__ void fold(const __grid_constant__ Shares s, const __grid_constant__ Watch watch) {
  const unsigned pass = *s.count + 1;
  const int half = (pass & 1) * s.blocks, other = threadIdx.x;
  if (other < s.blocks) {
    for (int n = 0; n < s.numbers; ++n) {
      *(volatile double*)(s.slots[other] + 2 * n * s.blocks + half) = s.contributes ? *s.value[n] : s.identity[n];
    }
    __threadfence_system();
    *(volatile unsigned*)s.flags[other] = pass;
    reached(s.arrived + other, pass, s.name, watch);
    __threadfence_system();
  }
  __syncthreads();
  if (other == 0) *s.count = pass;
  for (int n = other; n < s.numbers; n += blockDim.x) {
    const volatile double* shares = s.mine + 2 * n * s.blocks + half;
    *s.value[n] = s.kind[n] == 0   ? folded<Sum>(shares, s.blocks)
                  : s.kind[n] == 1 ? folded<Max>(shares, s.blocks)
                                   : folded<Min>(shares, s.blocks);
  }
}
