// Lists of pieces on a CPU: one call does a task on many boxes, each with the arguments that a call of its own would have.
// Many are dealt out to the threads, each to one that does all of it; few large ones are shared by all threads, one after the other.

// What a call does of a piece: all of it, or the cells alone, or what is folded of them in the end, in the order of the pieces.
enum Doing { ALL, CELLS, FOLDS };
static thread_local Doing doing = ALL;

constexpr Index FOR_EACH = 4;  // pieces for each thread, so that all have about the same to do

// f(n) for all pieces, of begins[n + 1] - begins[n] cells: threads take pieces next to each other, with the same number of cells.
template <class F>
FN void share_pieces(const Index* begins, int count, int threads, F f) {
  const Index total = begins[count];
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1 && total >= SERIAL)
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

template <class F>
FN void visit_pieces(const Index* begins, int count, int threads, bool folds, F f) {
  Index largest = 0;
  for (int n = 0; n < count; ++n) largest = begins[n + 1] - begins[n] > largest ? begins[n + 1] - begins[n] : largest;
  const bool apart = begins[count] >= SERIAL && (largest < SERIAL || FOR_EACH * threads * largest <= begins[count]);
  if (threads == 1 || !apart) {
    for (int n = 0; n < count; ++n) f(n);
    return;
  }
  share_pieces(begins, count, threads, [=](int n) {
    doing = CELLS;
    f(n);
    doing = ALL;
  });
  doing = FOLDS;
  for (int n = 0; folds && n < count; ++n) f(n);
  doing = ALL;
}
