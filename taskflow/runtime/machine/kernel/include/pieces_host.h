// Lists of pieces on a CPU: one call does a task on many boxes, each with the arguments of a separate call. Many pieces are
// distributed over the threads, whole. Few are shared by all threads, each of which proceeds from its cells of one piece to its
// cells of the next.

// The work of a call on a piece: all of it, a share of the cells, or the final fold, in the order of the pieces.
enum Doing { ALL, CELLS, FOLDS };
static thread_local Doing doing = ALL;
static thread_local Index sharer = 0, sharers = 1;  // number of the thread, and of threads

constexpr Index FOR_EACH = 4;  // pieces per thread that balance the work

// f(n) for all pieces, of begins[n + 1] - begins[n] cells: threads take adjacent pieces, with equal numbers of cells.
template <class F>
FN void share_pieces(const Index* begins, int count, int threads, F f) {
  const Index total = begins[count];
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (worth_sharing(total, threads))
  {
    const Index many = omp_get_num_threads(), me = omp_get_thread_num();
    for (int n = 0; n < count; ++n) {
      const Index middle = (begins[n] + begins[n + 1]) / 2 * many;
      if (middle >= total * me && middle < total * (me + 1)) f(n);
    }
  }
#else
  for (int n = 0; n < count; ++n) f(n);
#endif
}

// f(n) for all pieces, on every thread
template <class F>
FN void with_pieces(int count, [[maybe_unused]] int threads, F f) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  {
    sharer = omp_get_thread_num(), sharers = omp_get_num_threads();
    for (int n = 0; n < count; ++n) f(n);
    sharer = 0, sharers = 1;
  }
#else
  for (int n = 0; n < count; ++n) f(n);
#endif
}

template <class F>
FN void visit_pieces(const Index* begins, int count, int threads, bool folds, F f) {
  const Index total = begins[count];
  if (!worth_sharing(total, threads)) {
    for (int n = 0; n < count; ++n) f(n);
    return;
  }
  Index largest = 0;
  for (int n = 0; n < count; ++n) largest = begins[n + 1] - begins[n] > largest ? begins[n + 1] - begins[n] : largest;
  const auto cells = [=](int n) {
    doing = CELLS;
    f(n);
    doing = ALL;
  };
  if (FOR_EACH * threads * largest <= total)
    share_pieces(begins, count, threads, cells);
  else
    with_pieces(count, threads, cells);
  doing = FOLDS;
  for (int n = 0; folds && n < count; ++n) f(n);
  doing = ALL;
}
