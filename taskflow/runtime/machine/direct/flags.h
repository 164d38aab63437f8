constexpr int FLAGS = 48;

struct Flags {
  unsigned* flag[FLAGS];
  unsigned* count[FLAGS];  // times this block has posted it, or waited for it
  unsigned name[FLAGS];    // identifies the wait to the host
  int number;
};

// Increments all flags, by whole warps, after their events are visible to all.
FN void post_flags(const Flags& flags) {
  const int n = threadIdx.x;
  if (n < flags.number) *(volatile unsigned*)flags.flag[n] = ++*flags.count[n];
}

// Time limit of waits, and the words by which the host learns of a failure and requests an end. `broken` is in memory
// of this GPU, `stop` and `failed` are in memory of the host.
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

// True once the flag has reached the count; false if the wait was given up.
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

// Waits for the next post of all flags, after which their events are visible. Called by all thread blocks before one of
// them counts.
FN void await_flags(const Flags& flags, const Watch& watch) {
  const int n = threadIdx.x;
  if (n < flags.number) reached(flags.flag[n], *flags.count[n] + 1, flags.name[n], watch);
  __threadfence_system();
}
FN void count_awaited(const Flags& flags) {
  const int n = threadIdx.x;
  if (n < flags.number) ++*flags.count[n];
}
