// Blocks by columns: a GPU has a thread for each column of a cell's, a CPU does all at once. A thread has OWN of them, from `first` on.
#ifdef GPU
constexpr int OWN = 1;
#else
constexpr int OWN = UNKNOWNS;
#endif
constexpr double WORST = 1e12;  // ratio of the largest pivot of an inverse to the least

struct Columns {
  real of[UNKNOWNS][OWN];
};

#ifdef GPU
// The number of a column that another thread has; all threads of a warp ask
FN real of_column(const real (&row)[1], int n) { return __shfl_sync(0xffffffffu, row[0], int(threadIdx.x % 32 & ~(ROWS - 1u)) + n); }
#else
FN real of_column(const real (&row)[OWN], int n) { return row[n]; }
#endif

// What `coupled` gives
template <class Swept>
FN Columns coupled_columns(int first, Vector u, Vector v, Vector s, real friction, real b, Swept swept) {
  Columns m;
#ifdef GPU
  const real half = real(0.5), inverse_b = reciprocal(b), theta = half * relative(dot(s, v), swept);
  const Absolute a = absolute(half * (u + v), s, b, swept);
  const real along = first == 0 ? half : half * part(s, first - 1);
  m.of[0][0] = first == 0 ? -half * inverse_b * (a.speed + a.mass_p) : along + inverse_b * -along * a.mass_jump;
#pragma unroll
  for (int n = 0; n < 3; ++n) {
    const real central = along * (first == 0 ? part(s, n) : part(v, n)), upwind = -along * (first == 0 ? part(a.of_p, n) : part(a.of_jump, n));
    m.of[n + 1][0] = first == n + 1 ? central + theta + upwind + -half * a.speed + -friction : central + upwind;
  }
#ifdef HEAT
  for (int n = 0; n < UNKNOWNS; ++n) m.of[n][0] = n < 4 && first < 4 ? m.of[n][0] : real(0);
#endif
#else
  const Block block = coupled(u, v, s, friction, b, swept);
  for (int r = 0; r < UNKNOWNS; ++r)
    for (int k = 0; k < UNKNOWNS; ++k) m.of[r][k] = block.of[at(r, k)];
#endif
  return m;
}
// With the row of a scalar, of the block of the cell beyond a face for cell c
template <class... Rest>
FN void add_passage(Columns&, int, int, None, const Rest&...) {}
template <class Face, class Eddies>
FN void add_passage(Columns& m, int first, int row, In T, Index c, const Face& f, Vector velocities, Vector area, Eddies nu_t, const Numbers& n) {
  const real conducted = diffusivity_on(nu_t, n, c, f.beyond) * f.conductance;
  const Passage passing = passage(T[f.beyond], T[c], velocities, area, conducted, turned(-1, f.swept));
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    const int column = first + k;
    m.of[row][k] = column == row ? -passing.spread : column > 0 && column < 4 ? part(passing.by_velocity, column - 1) : real(0);
  }
}

struct Pivots {
  real least, most;
};
// A step of Gauss and Jordan: column P of `a` becomes that of the unit. The row with its largest number comes to row P by selections:
// an index that is only known then would keep blocks out of a GPU's registers.
template <int P>
FN void eliminate_column(Columns& a, Columns& b, Pivots& pivots) {
  real column[UNKNOWNS];
#pragma unroll
  for (int n = 0; n < UNKNOWNS; ++n) column[n] = of_column(a.of[n], P);
  int best = P;
  real largest = magnitude(column[P]);
#pragma unroll
  for (int n = P + 1; n < UNKNOWNS; ++n) {
    const real size = magnitude(column[n]);
    best = size > largest ? n : best, largest = size > largest ? size : largest;
  }
  const real top = column[P];
  real pivot = top;
#pragma unroll
  for (int m = P + 1; m < UNKNOWNS; ++m) pivot = best == m ? column[m] : pivot, column[m] = best == m ? top : column[m];
  real row[OWN], other[OWN];
#pragma unroll
  for (int n = 0; n < OWN; ++n) {
    const real own = row[n] = a.of[P][n], own_other = other[n] = b.of[P][n];
#pragma unroll
    for (int m = P + 1; m < UNKNOWNS; ++m) {
      row[n] = best == m ? a.of[m][n] : row[n], other[n] = best == m ? b.of[m][n] : other[n];
      a.of[m][n] = best == m ? own : a.of[m][n], b.of[m][n] = best == m ? own_other : b.of[m][n];
    }
  }
  const real size = magnitude(pivot), scale = 1 / pivot;
  pivots.most = size > pivots.most ? size : pivots.most, pivots.least = P == 0 || size < pivots.least ? size : pivots.least;
#pragma unroll
  for (int n = 0; n < OWN; ++n) a.of[P][n] = row[n] *= scale, b.of[P][n] = other[n] *= scale;
#pragma unroll
  for (int m = 0; m < UNKNOWNS; ++m) {
    if (m == P) continue;
#pragma unroll
    for (int n = 0; n < OWN; ++n) a.of[m][n] -= column[m] * row[n], b.of[m][n] -= column[m] * other[n];
  }
}
template <int P = 0>
FN void eliminate(Columns& a, Columns& b, Pivots& pivots) {
  eliminate_column<P>(a, b, pivots);
  if constexpr (P + 1 < UNKNOWNS) eliminate<P + 1>(a, b, pivots);
}
// A block whose row and column of the pressure are multiplied by a speed, and the row of a scalar by a speed over its scale, and its
// column by the inverse of that: all numbers have one unit then. All are powers of two. `back` are those of the inverse.
FN void balance(Columns& m, int first, const Numbers& numbers, [[maybe_unused]] bool back) {
  const real speed = numbers.pace;
  for (int n = 0; n < OWN; ++n) {
    m.of[0][n] *= speed;
    for (int r = 0; r < UNKNOWNS; ++r) m.of[r][n] *= first + n == 0 ? speed : real(1);
#ifdef HEAT
#pragma unroll
    for (int row = 4; row < UNKNOWNS; ++row) {
      const real scale = speed * numbers_of(numbers, row).per[2], rows = back ? 1 / scale : scale, columns = back ? scale : 1 / scale;
      m.of[row][n] *= rows;
      for (int r = 0; r < UNKNOWNS; ++r) m.of[r][n] *= first + n == row ? columns : real(1);
    }
#endif
  }
}
// The inverse, by Gauss and Jordan with partial pivoting; where pivots differ by more than WORST infinity in its first place
FN Columns inverse(Columns a, int first, const Numbers& numbers) {
  balance(a, first, numbers, false);
  Columns b;
  for (int r = 0; r < UNKNOWNS; ++r)
    for (int n = 0; n < OWN; ++n) b.of[r][n] = r == first + n;
  Pivots pivots = {0, 0};
  eliminate(a, b, pivots);
  balance(b, first, numbers, true);
  if (first == 0 && !(double(pivots.most) < WORST * double(pivots.least))) b.of[0][0] = real(INFINITE);
  return b;
}
