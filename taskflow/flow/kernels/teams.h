// Lines by teams of GPU threads: those of a thread block that have the same x share the planes of a slab, and keep them in
// registers, so that every value is read once and written once. A thread alone would have to read each value three times
// (or two, where other slabs have been told its ends) and to write it twice. A block does as many rows as it has teams;
// what is the same for all of a team, each of its threads works out for one of these rows.
constexpr int MOST = 32;  // planes of a thread

FN bool teams_suffice(const Spectrum& s) { return s.slab <= MOST * int(blockDim.y); }

struct Pair {
  double a, b;
};

// How the planes of a slab are shared: as many for each, less for the last one that has any.
struct Shares {
  int all, size, members, rest;

  INLINE explicit Shares(int planes)
      : all(planes), size((planes + int(blockDim.y) - 1) / int(blockDim.y)), members((planes + size - 1) / size),
        rest(planes - (members - 1) * size) {}
  INLINE int of(int member) const { return member < members - 1 ? size : member < members ? rest : 0; }
  INLINE int below(int member) const { return member < members ? member * size : all; }
};

// `come(w, F, X, p)`: f and x that come into the slab, whose last f and first x would be F and X with zeros coming in;
// p is what `prepare(modes)` has made for the line.
template <class Prepare, class Come>
FN void solve_by_teams(const Spectrum& s, const Slab& slab, const Planes& spectrum, int count, int rows, Prepare prepare,
                       Come come) {
  __shared__ double decay[BY][BX], last[BY][BX], lowest[BY][BX];
  __shared__ Pair prepared[BY][BX], usual[BY][BX], final[BY][BX];  // powers across a share, and their sums
  const int me = int(threadIdx.y), lane = int(threadIdx.x), i = int(blockIdx.x * blockDim.x) + lane;
  const int top = int(blockIdx.y * blockDim.y), here = rows - top < int(blockDim.y) ? rows - top : int(blockDim.y);
  const Shares shares(slab.planes());
  const int planes = i < count ? shares.of(me) : 0, first = slab.first + shares.below(me);
  if (i < count && me < here) {
    const PlainModes<double> modes(s, i, top + me);
    const double lambda = 1.0 - modes.decay[0];
    const Power<double> most(lambda, shares.size), least(lambda, shares.rest);
    decay[me][lane] = modes.decay[0];
    usual[me][lane] = {most.power, most.sum};
    final[me][lane] = {least.power, least.sum};
    prepared[me][lane] = prepare(modes);
  }
  __syncthreads();
  for (int row = 0; row < here; ++row) {
    real v[MOST];
    const real* from = spectrum.at(i, top + row, first);
#pragma unroll
    for (int n = 0; n < MOST; ++n, from += spectrum.z) v[n] = n < planes ? *from : real(0);
    const double w = decay[row][lane], lambda = 1.0 - w, gain = (w - 1.0) * double(s.scale);
    double f = 0, x = 0, p = 1;
#pragma unroll
    for (int n = 0; n < MOST; ++n)
      if (n < planes) {
        f = gain * v[n] + (f - w * f);
        x = x + p * f;
        p = p - w * p;
      }
    last[me][lane] = f;
    __syncthreads();
    const Pair share = usual[row][lane], end = final[row][lane];
    double F = 0, mine = 0;
    for (int t = 0; t < shares.members; ++t) {
      if (t == me) mine = F;
      F = last[t][lane] + (t < shares.members - 1 ? share.a : end.a) * F;
    }
    lowest[me][lane] = x + lambda * (me < shares.members - 1 ? share.b : end.b) * mine;
    __syncthreads();
    double X = 0, above = 0;
    for (int t = shares.members - 1; t >= 0; --t) {
      if (t == me) above = X;
      X = lowest[t][lane] + (t < shares.members - 1 ? share.a : end.a) * X;
    }
    const Pair in = come(w, F, X, prepared[row][lane]);
    const Power<double> under(lambda, shares.below(me)), over(lambda, shares.all - shares.below(me) - shares.of(me));
    f = mine + under.power * in.a;
    x = above + lambda * under.power * p * over.sum * in.a + over.power * in.b;
#pragma unroll
    for (int n = 0; n < MOST; ++n)
      if (n < planes) v[n] = real(f = gain * v[n] + (f - w * f));
    real* to = spectrum.at(i, top + row, first + MOST);
#pragma unroll
    for (int n = MOST - 1; n >= 0; --n) {
      to -= spectrum.z;
      if (n < planes) *to = real(x = v[n] + (x - w * x));
    }
  }
}

FN void solve_by_teams(const Range& r, InOut spectrum, const Spectrum& s, int count, int rows) {
  solve_by_teams(
      s, Slab(s, 0), planes(spectrum, r), count, rows,
      [&](const PlainModes<double>& modes) {
        const Power<double> all(1.0 - modes.decay[0], s.cells[2]);
        return Pair{all.power, all.sum};
      },
      [&](double w, double F, double X, const Pair& all) {
        const Ends<double> ends(s, w, {F, X, all.a, all.b});
        return Pair{ends.below, ends.above};
      });
}

FN void solve_by_teams(const Range& r, InOut spectrum, const Foreign& rising, const Foreign& falling, const Spectrum& s,
                       int count, int rows) {
  for (int n = r.lo[2] / s.slab; n * s.slab < r.hi[2]; ++n) {
    __syncthreads();  // nobody needs any more what was prepared for the slab before
    solve_by_teams(
        s, Slab(s, n), planes(spectrum, r), count, rows,
        [&](const PlainModes<double>& modes) {
          const Incoming<PlainModes<double>, double> in(s, n, modes, planes(rising), planes(falling));
          return Pair{in.f[0], in.x[0]};
        },
        [](double, double, double, const Pair& in) { return in; });
  }
}
