// A copy of contiguous memory: words of 16 bytes, of which each thread has several on their way at once. GPU only.
struct alignas(16) Word {
  unsigned long long low, high;
};

extern "C" __global__ void copy_whole(Word* __restrict__ target, const Word* __restrict__ source, unsigned long long count) {
  constexpr int AT_ONCE = 4;  // loads of a thread: with one of 8 bytes too few bytes are on their way to use the memory
  const unsigned long long first = (unsigned long long)blockIdx.x * (AT_ONCE * blockDim.x) + threadIdx.x;
  Word words[AT_ONCE];
#pragma unroll
  for (int n = 0; n < AT_ONCE; ++n)
    if (first + n * blockDim.x < count) words[n] = source[first + n * blockDim.x];
#pragma unroll
  for (int n = 0; n < AT_ONCE; ++n)
    if (first + n * blockDim.x < count) target[first + n * blockDim.x] = words[n];
}
