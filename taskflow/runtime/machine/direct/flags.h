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

// How long a wait may last, and where the host hears of its failure and asks it to give up. `broken` is memory of this
// GPU, `stop` and `failed` are of the host.
struct Watch {
  volatile unsigned* stop;
  volatile unsigned* failed;
  volatile unsigned* broken;
  unsigned long long limit;  // ns
};

FN unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

// True once the flag has reached the count; false where the wait was given up.
FN bool reached(volatile unsigned* flag, unsigned count, unsigned name, const Watch& watch) {
  if (int(*flag - count) >= 0) return true;
  const unsigned long long began = now();
  for (unsigned n = 1; int(*flag - count) < 0; ++n) {
    if (*watch.broken) return false;
    if (n % 512) continue;
    if (!*watch.stop && now() - began < watch.limit) continue;
    *watch.broken = 1;
    *watch.failed = name;
    __threadfence_system();
    return false;
  }
  return true;
}

// Waits until all flags have been posted once more, and what they stand for is there to see; by whole thread blocks, as
// many as there are, before one of them counts.
FN void await_flags(const Flags& flags, const Watch& watch) {
  const int n = threadIdx.x;
  if (n < flags.number) reached(flags.flag[n], *flags.count[n] + 1, flags.name[n], watch);
  __threadfence_system();
}
FN void count_awaited(const Flags& flags) {
  const int n = threadIdx.x;
  if (n < flags.number) ++*flags.count[n];
}
