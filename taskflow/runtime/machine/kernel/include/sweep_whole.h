// Sweeps through a whole chart on a GPU. It is cut into bundles of columns along x, with the width and height of a tile. A thread
// block does a bundle, the cells of one i + j + k at a time, in steps. A bundle follows the preceding ones across y and z: it may do
// a step as soon as they have done the cells that it depends on. A separate warp polls their progress and publishes its own, so that
// computing threads wait only if there is nothing to do.
//
// Thread blocks take bundles by ticket, in the order of their diagonals: one waits only for bundles of lower tickets, which are
// in progress or done. So the sweep ends with any number of resident thread blocks.
//
// sweep_whole<D, N>(range, sweep, threads of a column, begin): begin(column, number) returns the work of a thread per step, from N
// steps before the first cell: (step, x, Parity). It is also called if the column has no cell x, or the thread no column (x is then
// near none). Results of other bundles may be read one step ahead. Odd and even steps have separate machine code, so that results of
// one step need not be moved for the next.
constexpr int MOST_COLUMNS = 64;  // of a bundle
constexpr unsigned STRETCH = 2;  // steps that are published together
constexpr unsigned ALL = 1u << 30;
constexpr int TICKET = 0, LEFT = 1, DONE = 8;  // words; DONE for each bundle, in a separate memory sector

struct Handed {
  volatile unsigned may, done;  // steps
  unsigned ticket;
};

FN unsigned long long nanoseconds() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}
FN void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
FN void meet(int threads) { asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory"); }

// Bundles across y or z
FN int bundles(const Sweep& s, int axis) { return (s.last[axis] - s.first[axis] + s.tile[axis] - 1) / s.tile[axis]; }
FN volatile unsigned* progress(const Sweep& s, int y, int z) { return s.passed + DONE * (1 + z * bundles(s, 1) + y); }

// The dependences of a bundle: the steps of the preceding ones across y and z, if any, and their required lead
struct Before {
  volatile unsigned* done[2];
  unsigned ahead[2];
  INLINE unsigned may(unsigned steps) const {
    unsigned may = steps;
    for (int n = 0; n < 2; ++n) {
      const unsigned theirs = done[n] ? *done[n] : ALL, mine = theirs < ahead[n] ? 0 : theirs + 1 - ahead[n];
      may = mine < may ? mine : may;
    }
    return may;
  }
};

// One thread publishes the progress of its thread block, and its permitted steps, until the end.
FN void pass_on(const Sweep& s, Handed& handed, volatile unsigned* done, const Before& before, unsigned steps) {
  unsigned told = 0, may = 0;
  unsigned long long since = nanoseconds();
  while (told < steps) {
    const unsigned here = handed.done, far = may < steps ? before.may(steps) : may;
    if (here > told) {
      fence();
      *done = here == steps ? ALL : here;
      told = here;
    }
    if (far > may) {
      fence();
      handed.may = may = far;
      since = nanoseconds();
    } else if (may < steps && nanoseconds() - since > s.patience) {
      *s.alarm = 1 + handed.ticket;
      __threadfence_system();
      handed.may = may = steps;
    }
    __nanosleep(20);
  }
}

// The last thread block to leave resets all words to zero.
FN void leave(const Sweep& s, unsigned count) {
  if (atomicAdd(s.passed + LEFT, 1u) + 1 < count) return;
  for (unsigned n = 0; n < count; ++n) s.passed[DONE * (1 + n)] = 0;
  s.passed[TICKET] = s.passed[LEFT] = 0;
}

// The bundle of a ticket, counted in the direction of the sweep
FN void place_of(unsigned ticket, int across, int down, int (&at)[2]) {
  int rest = int(ticket);
  for (int diagonal = 0;; ++diagonal) {
    const int low = diagonal < down ? 0 : diagonal - down + 1, high = diagonal < across ? diagonal : across - 1;
    at[0] = low + rest, at[1] = diagonal - at[0];
    if (at[0] <= high) return;
    rest -= high - low + 1;
  }
}

#ifdef SHUFFLED
FN void linger(unsigned number) { __nanosleep((number * 2654435761u) >> 20); }
#else
FN void linger(unsigned) {}
#endif

template <class D, int N, class B>
FN void sweep_whole(const Range& r, const Sweep& s, int width, B begin) {
  __shared__ Handed handed;
  const int across = bundles(s, 1), down = bundles(s, 2);
  const unsigned count = across * down;
  if (threadIdx.x == 0) {
    handed.may = handed.done = 0;
    handed.ticket = atomicAdd(s.passed + TICKET, 1u);
  }
  __syncthreads();
  const unsigned ticket = handed.ticket;
  if (ticket >= count) {
    if (threadIdx.x == 0) leave(s, count);
    return;
  }
  int at[2];
  place_of(ticket, across, down, at);
  TileOf tile = {};
  Before before = {};
  for (int a = 0; a < 3; ++a) tile.low[a] = tile.lo[a] = s.first[a], tile.high[a] = tile.hi[a] = s.last[a];
  for (int a = 1; a < 3; ++a) {
    const int n = D::way > 0 ? at[a - 1] : bundles(s, a) - 1 - at[a - 1];
    tile.lo[a] = s.first[a] + n * s.tile[a];
    if (tile.lo[a] + s.tile[a] < s.last[a]) tile.hi[a] = tile.lo[a] + s.tile[a];
    if (at[a - 1] == 0) continue;
    before.done[a - 1] = progress(s, at[0] - (a == 1), at[1] - (a == 2));
    before.ahead[a - 1] = D::way < 0 && s.last[a] - tile.hi[a] < s.tile[a] ? s.last[a] - tile.hi[a] : s.tile[a];
  }
  const TileCells<D> all{r, tile};
  const int threads = int(blockDim.x) - 32, mine = int(threadIdx.x) / width;
  if (int(threadIdx.x) >= threads) {
    if (int(threadIdx.x) > threads) return;
    pass_on(s, handed, progress(s, at[0], at[1]), before, all.steps);
    return leave(s, count);
  }
  const bool idle = mine >= all.columns;
  const TileColumn<D> column(all, idle ? 0 : mine);
  auto work = begin(column, mine);
  const auto one = [&](int step, auto parity) {
    if (unsigned(step + 1) % STRETCH == 0) {
      linger(ticket + step);
      const unsigned may = step + 1 + STRETCH, need = may < unsigned(all.steps) ? may : unsigned(all.steps);
      while (handed.may < need) __nanosleep(20);
      __threadfence_block();
    }
    work(step, idle ? NO_COLUMN : column.x(step), parity);
    meet(threads);
    if (threadIdx.x == 0 && (unsigned(step + 1) % STRETCH == 0 || step + 1 == all.steps)) {
      __threadfence_block();
      handed.done = step + 1;
    }
  };
  for (int step = -N; step < all.steps; step += 2) {
    one(step, Parity<N % 2>());
    if (step + 1 < all.steps) one(step + 1, Parity<(N + 1) % 2>());
  }
}
