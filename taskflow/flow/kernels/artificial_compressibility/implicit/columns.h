// Blocks of 4 x 4 numbers by columns: a GPU has a thread for each column of a cell's, a CPU does all at once. A thread has OWN of
// them, from `first` on.
#ifdef GPU
constexpr int OWN = 1;
#else
constexpr int OWN = 4;
#endif
constexpr double WORST = 1e12;  // ratio of the largest pivot of an inverse to the least

struct Columns {
  real of[4][OWN];
};

#ifdef GPU
// The number of a column that another thread has; all threads of a warp ask
FN real of_column(const real (&row)[1], int n) { return __shfl_sync(0xffffffffu, row[0], int(threadIdx.x % 32 & ~3u) + n); }
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
#else
  const Block block = coupled(u, v, s, friction, b, swept);
  for (int r = 0; r < 4; ++r)
    for (int k = 0; k < 4; ++k) m.of[r][k] = block.of[4 * r + k];
#endif
  return m;
}

struct Pivots {
  real least, most;
};
// A step of Gauss and Jordan: column P of `a` becomes that of the unit. The row with its largest number comes to row P by selections:
// an index that is only known then would keep blocks out of a GPU's registers.
template <int P>
FN void eliminate_column(Columns& a, Columns& b, Pivots& pivots) {
  real column[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) column[n] = of_column(a.of[n], P);
  int best = P;
  real largest = magnitude(column[P]);
#pragma unroll
  for (int n = P + 1; n < 4; ++n) {
    const real size = magnitude(column[n]);
    best = size > largest ? n : best, largest = size > largest ? size : largest;
  }
  const real top = column[P];
  real pivot = top;
#pragma unroll
  for (int m = P + 1; m < 4; ++m) pivot = best == m ? column[m] : pivot, column[m] = best == m ? top : column[m];
  real row[OWN], other[OWN];
#pragma unroll
  for (int n = 0; n < OWN; ++n) {
    const real own = row[n] = a.of[P][n], own_other = other[n] = b.of[P][n];
#pragma unroll
    for (int m = P + 1; m < 4; ++m) {
      row[n] = best == m ? a.of[m][n] : row[n], other[n] = best == m ? b.of[m][n] : other[n];
      a.of[m][n] = best == m ? own : a.of[m][n], b.of[m][n] = best == m ? own_other : b.of[m][n];
    }
  }
  const real size = magnitude(pivot), scale = 1 / pivot;
  pivots.most = size > pivots.most ? size : pivots.most, pivots.least = P == 0 || size < pivots.least ? size : pivots.least;
#pragma unroll
  for (int n = 0; n < OWN; ++n) a.of[P][n] = row[n] *= scale, b.of[P][n] = other[n] *= scale;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    if (m == P) continue;
#pragma unroll
    for (int n = 0; n < OWN; ++n) a.of[m][n] -= column[m] * row[n], b.of[m][n] -= column[m] * other[n];
  }
}
// A block whose row and column of the pressure are multiplied by a speed: all of its numbers have one unit then
FN void balance(Columns& m, int first, real speed) {
  for (int n = 0; n < OWN; ++n) {
    m.of[0][n] *= speed;
    for (int r = 0; r < 4; ++r) m.of[r][n] *= first + n == 0 ? speed : real(1);
  }
}
// The inverse, by Gauss and Jordan with partial pivoting; where pivots differ by more than WORST infinity in its first place
FN Columns inverse(Columns a, int first, real speed) {
  balance(a, first, speed);
  Columns b;
  for (int r = 0; r < 4; ++r)
    for (int n = 0; n < OWN; ++n) b.of[r][n] = r == first + n;
  Pivots pivots = {0, 0};
  eliminate_column<0>(a, b, pivots), eliminate_column<1>(a, b, pivots), eliminate_column<2>(a, b, pivots), eliminate_column<3>(a, b, pivots);
  balance(b, first, speed);
  if (first == 0 && !(double(pivots.most) < WORST * double(pivots.least))) b.of[0][0] = real(INFINITE);
  return b;
}
