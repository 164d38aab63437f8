constexpr int FLAGS = 48;

struct Flags {
  unsigned* flag[FLAGS];
  unsigned* count[FLAGS];  // how often this block has posted it, or waited for it
  unsigned name[FLAGS];    // by which the host knows what was waited for
  int number;
};

// Posts all flags once more; by whole warps, when what they stand for is there for all to see.
FN void post_flags(const Flags& flags) {
  const int n = threadIdx.x;
  if (n < flags.number) *(volatile unsigned*)flags.flag[n] = ++*flags.count[n];
}
