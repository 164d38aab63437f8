// Exchanges between blocks that are threads of one process: waits for flags, copies into another block's ghost cells,
// posts of flags, reductions in a fixed order.
//
// A flag counts how often its event has happened. Its one waiting block has its own count, so nothing is ever reset. A
// waiting thread polls for a short time and then sleeps on the flag, so that it leaves its core to the work it waits
// for. It returns after a slice of time: the caller looks for the end of the run, and calls again.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

struct Flag {
  std::atomic<uint32_t> posted, sleepers;
  uint32_t seen;
};

struct Waiting {
  int64_t spin, patience, brief, slice;  // nanoseconds: longest poll, present one, a brief sleep, the longest sleep
};

struct Copies {
  void (*copy)(const void* parts, const int64_t* begins, int count, int threads);
  const void* parts;
  const int64_t* begins;
  int32_t count, threads;
};

struct Exchange {
  Flag* const* claims;
  const Copies* copies;
  Flag* const* posts;
  Waiting* waiting;
  int32_t claimed, lists, posted;
};

constexpr int NUMBERS = 32;  // MOST_REDUCTIONS of a task
enum { SUM, MAX, MIN };

struct Fold {
  double* value[NUMBERS];
  double identity[NUMBERS];
  int32_t kind[NUMBERS];
  Flag* arrived;    // posted by every block in every pass
  uint32_t* count;  // folds so far of this block
  double* shares;   // [parity of the fold][number][block]: a block may be one fold ahead of another that still reads
  Waiting* waiting;
  int32_t numbers, contributes, blocks, block, begun;
};

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1000000000} + t.tv_nsec;
}

long futex(std::atomic<uint32_t>* word, int operation, uint32_t value, const timespec* limit) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), operation, value, limit, nullptr, 0);
}

void post(Flag& flag) {
  flag.posted.fetch_add(1);         // in one order with `sleepers`: either the poster sees a sleeper,
  if (flag.sleepers.load() != 0) {  // or the sleeper sees the post
    futex(&flag.posted, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
  }
}

// Waits until the flag has been posted `target` times. Returns false after a slice of time.
bool reached(Flag& flag, uint32_t target, Waiting& waiting) {
  const auto there = [&](uint32_t posted) { return int32_t(posted - target) >= 0; };
  if (there(flag.posted.load(std::memory_order_acquire))) return true;
  const int64_t began = now();
  for (int64_t at = began; at - began < waiting.patience; at = now()) {
    sched_yield();
    if (there(flag.posted.load(std::memory_order_acquire))) return true;
  }
  const int64_t until = now() + waiting.slice;
  bool found = false;
  flag.sleepers.fetch_add(1);
  for (uint32_t posted = flag.posted.load(); !(found = there(posted)); posted = flag.posted.load()) {
    const int64_t left = until - now();
    if (left <= 0) break;
    const timespec limit{time_t(left / 1000000000), long(left % 1000000000)};
    futex(&flag.posted, FUTEX_WAIT_PRIVATE, posted, &limit);
  }
  flag.sleepers.fetch_sub(1);
  waiting.patience = now() - began < waiting.brief ? waiting.spin : waiting.patience / 2;
  return found;
}

double folded(const double* shares, int blocks, int kind) {
  double value = shares[0];
  for (int n = 1; n < blocks; ++n) {
    const double next = shares[n];
    if (kind == SUM) {
      value += next;
    } else if (!std::isnan(value) && (std::isnan(next) || (kind == MAX ? next > value : next < value))) {
      value = next;
    }
  }
  value += 0.0;  // one form of zero and of NaN: their order may depend on the processor
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace

// Waits for all claims, copies, posts. Returns 0, or 1 + the number of a claim that was not there after a slice of
// time; then nothing has been done.
extern "C" int exchange(const Exchange* e) {
  for (int n = 0; n < e->claimed; ++n) {
    if (!reached(*e->claims[n], e->claims[n]->seen + 1, *e->waiting)) return 1 + n;
  }
  for (int n = 0; n < e->claimed; ++n) ++e->claims[n]->seen;
  for (int n = 0; n < e->lists; ++n) {
    const Copies& c = e->copies[n];
    c.copy(c.parts, c.begins, c.count, c.threads);
  }
  for (int n = 0; n < e->posted; ++n) post(*e->posts[n]);
  return 0;
}

// Folds numbers over all blocks in their order, with the same bits on every block. Returns 1 if a share was not there
// after a slice of time; the next call goes on.
extern "C" int fold(Fold* f) {
  const uint32_t pass = *f->count + 1;
  double* const shares = f->shares + int64_t(pass & 1) * NUMBERS * f->blocks;
  if (!f->begun) {
    for (int n = 0; n < f->numbers; ++n) {
      shares[n * f->blocks + f->block] = f->contributes ? *f->value[n] : f->identity[n];
    }
    f->begun = 1;
    post(*f->arrived);
  }
  if (!reached(*f->arrived, pass * uint32_t(f->blocks), *f->waiting)) return 1;
  f->begun = 0;
  *f->count = pass;
  for (int n = 0; n < f->numbers; ++n) *f->value[n] = folded(shares + n * f->blocks, f->blocks, f->kind[n]);
  return 0;
}
