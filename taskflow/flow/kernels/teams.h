// Lines by teams of GPU threads: those of a thread block that have the same x share the planes of a slab, and keep them in
// registers, so that every value is read once and written once. A thread alone would have to read each value three times
// (or two, where other slabs have been told its ends) and to write it twice.
constexpr int MOST = 32;  // planes of a thread

FN bool teams_suffice(const Spectrum& s) { return s.slab <= MOST * int(blockDim.y); }

// f and x that come into a slab
struct Coming {
  double f, x;
};

// `come(modes, F, X, lane)`: what comes into the slab, whose last f and first x would be F and X with zeros coming in.
// Before, one thread of each team has called `prepare(modes, i, j, lane)`.
template <class Prepare, class Come>
FN void solve_by_teams(const Spectrum& s, const Slab& slab, const Planes& spectrum, int count, int rows, Prepare prepare,
                       Come come) {
  __shared__ double last[BY][BX], lowest[BY][BX];
  const int team = int(blockDim.y), me = int(threadIdx.y), lane = int(threadIdx.x);
  const int i = int(blockIdx.x * blockDim.x) + lane, all = slab.planes();
  const int size = (all + team - 1) / team, members = (all + size - 1) / size, rest = all - (members - 1) * size;
  const int below = me < members ? me * size : all, planes = me < members - 1 ? size : me < members ? rest : 0;
  for (int row = 0; row < team; ++row) {
    const int j = int(blockIdx.y) * team + row;
    if (j >= rows) return;
    const bool inside = i < count;
    const PlainModes<double> modes(s, inside ? i : 0, j);
    const double w = modes.decay[0], lambda = 1.0 - w, gain = (w - 1.0) * double(s.scale);
    const int mine_planes = inside ? planes : 0;
    real v[MOST];
    const real* from = spectrum.at(i, j, slab.first + below);
#pragma unroll
    for (int n = 0; n < MOST; ++n, from += spectrum.z) v[n] = n < mine_planes ? *from : real(0);
    double f = 0, x = 0, p = 1;
#pragma unroll
    for (int n = 0; n < MOST; ++n)
      if (n < planes) {
        f = gain * v[n] + (f - w * f);
        x = x + p * f;
        p = p - w * p;
      }
    last[me][lane] = f;
    __syncthreads();  // also: nobody needs any more what was told about the row before
    if (inside && me == 0) prepare(modes, i, j, lane);
    const Power<double> usual(lambda, size), short_one(lambda, rest);
    double F = 0, mine = 0;
    for (int t = 0; t < members; ++t) {
      if (t == me) mine = F;
      F = last[t][lane] + (t < members - 1 ? usual.power : short_one.power) * F;
    }
    lowest[me][lane] = x + lambda * (me < members - 1 ? usual.sum : short_one.sum) * mine;
    __syncthreads();
    double X = 0, above = 0;
    for (int t = members - 1; t >= 0; --t) {
      if (t == me) above = X;
      X = lowest[t][lane] + (t < members - 1 ? usual.power : short_one.power) * X;
    }
    const Coming in = come(modes, F, X, lane);
    const Power<double> under(lambda, below), over(lambda, all - below - planes);
    f = mine + under.power * in.f;
    x = above + lambda * under.power * p * over.sum * in.f + over.power * in.x;
#pragma unroll
    for (int n = 0; n < MOST; ++n)
      if (n < planes) v[n] = real(f = gain * v[n] + (f - w * f));
    real* to = spectrum.at(i, j, slab.first + below + MOST);
#pragma unroll
    for (int n = MOST - 1; n >= 0; --n) {
      to -= spectrum.z;
      if (n < mine_planes) *to = real(x = v[n] + (x - w * x));
    }
  }
}

FN void solve_by_teams(const Range& r, InOut spectrum, const Spectrum& s, int count, int rows) {
  const auto none = [](const PlainModes<double>&, int, int, int) {};
  solve_by_teams(s, Slab(s, 0), planes(spectrum, r), count, rows, none,
                 [&](const PlainModes<double>& modes, double F, double X, int) {
                   const Power<double> all(1.0 - modes.decay[0], s.cells[2]);
                   const Ends<double> ends(s, modes.decay[0], {F, X, all.power, all.sum});
                   return Coming{ends.below, ends.above};
                 });
}

FN void solve_by_teams(const Range& r, InOut spectrum, const Foreign& rising, const Foreign& falling, const Spectrum& s,
                       int count, int rows) {
  __shared__ Coming coming[BX];
  for (int n = r.lo[2] / s.slab; n * s.slab < r.hi[2]; ++n)
    solve_by_teams(
        s, Slab(s, n), planes(spectrum, r), count, rows,
        [&](const PlainModes<double>& modes, int i, int j, int lane) {
          const Incoming<PlainModes<double>, double> in(s, n, modes, planes(rising), planes(falling));
          coming[lane] = {in.f[0], in.x[0]};
        },
        [&](const PlainModes<double>&, double, double, int lane) { return coming[lane]; });
}
