// Two sweeps in one pass on a GPU: see twice.h.
#ifndef UY
#define UY 1
#endif

constexpr int HEIGHT = BY * UY;

// Planes after the first sweep: written, read, and read by late threads. One memory for all calls in a kernel.
typedef real Swept[HEIGHT][BX];
FN Swept* swept_planes() {
  __shared__ Swept planes[3];
  return planes;
}

template <class Value>
FN Value copied(const Value& value) { return value; }

// A thread's part of a plane of the first sweep's input: its column of UY rows, and its surroundings.
template <class Value>
struct Plane {
  real here[UY], west[UY], east[UY], south, north;
  Value other[UY];
};

// Offsets of a thread's rows in a plane, relative to a cell of its thread block, so that 32 bits suffice.
struct Rows {
  unsigned at[UY], south, north;
};

// The surroundings of a plane at `p`, without `here`, and the other field at `d`.
template <class Value, class Other>
FN void load_around(Plane<Value>& plane, In p, Other d, const Rows& rows) {
#pragma unroll
  for (int n = 0; n < UY; ++n) {
    plane.west[n] = (p - 1)[rows.at[n]], plane.east[n] = (p + 1)[rows.at[n]];
    plane.other[n] = d[rows.at[n]];
  }
  plane.south = p[rows.south], plane.north = p[rows.north];
}

FN void load_here(real (&here)[UY], In p, const Rows& rows) {
#pragma unroll
  for (int n = 0; n < UY; ++n) here[n] = p[rows.at[n]];
}

// Whether all inputs of this thread block for two sweeps in the cell itself are outside of lo <= (i, j, k) < hi.
FN bool apart(const Range& r, const int (&lo)[3], const int (&hi)[3]) {
  const int width[3] = {BX - 2, HEIGHT - 2, r.march}, block[3] = {int(blockIdx.x), int(blockIdx.y), int(blockIdx.z)};
  bool found = false;
#pragma unroll
  for (int n = 0; n < 3; ++n) {
    const int first = r.lo[n] + block[n] * width[n];
    found |= first - 1 >= hi[n] || min(first + width[n], r.hi[n]) < lo[n];
  }
  return found;
}

// out = second(first(p)) in the tile that begins at a corner, for cells of a kind
template <class Kind, class Other, class First, class Second>
FN void sweep_tile(const Range& r, int corner_i, int corner_j, In p, Other d, Out out, First first, Second second) {
  typedef decltype(copied(d[0])) Value;
  Swept* const swept = swept_planes();
  const int x = threadIdx.x, y = threadIdx.y * UY;
  const int i = corner_i + x, j = corner_j + y;
  const int bottom = r.lo[2] + int(blockIdx.z) * r.march, top = min(bottom + r.march, r.hi[2]);

  // Threads beyond the end read existing memory: up to the last row that the first sweep reads.
  const auto place = [&](int row) {
    const int inside_i = i < r.hi[0] ? i : r.hi[0], inside_j = row < r.hi[1] + 1 ? row : r.hi[1] + 1;
    return unsigned(inside_i - corner_i) + unsigned(inside_j - corner_j + 1) * unsigned(r.y);
  };
  Rows rows;
  bool mine[UY];  // cells of the range: not the tile's border, not beyond the end
#pragma unroll
  for (int n = 0; n < UY; ++n) {
    rows.at[n] = place(j + n);
    mine[n] = x > 0 && x < BX - 1 && i < r.hi[0] && y + n > 0 && y + n < HEIGHT - 1 && j + n < r.hi[1];
  }
  rows.south = place(j - 1), rows.north = place(j + UY);

  const Index base = corner_i + (corner_j - 1) * r.y + (bottom - 1) * r.z;
  p += base, d = d + base, out += base;
  real below[UY], above[UY], q_below[UY] = {}, q_here[UY] = {};
  Value q_other[UY] = {};
  Plane<Value> now;
  load_here(below, p - r.z, rows), load_here(now.here, p, rows), load_here(above, p + r.z, rows);
  load_around(now, p, d, rows);

  int fresh = 0, behind = 2;
  for (int k = bottom - 1; k <= top; ++k, p += r.z, d = d + r.z, out += r.z) {
    Plane<Value> next;
    real farther[UY];
    if (k < top) {
      load_here(farther, p + 2 * r.z, rows);
      load_around(next, p + r.z, d + r.z, rows);
    }
    real q_above[UY];
#pragma unroll
    for (int n = 0; n < UY; ++n) {
      const Star s{now.here[n],
                   {now.west[n], n ? now.here[n - 1] : now.south, below[n]},
                   {now.east[n], n < UY - 1 ? now.here[n + 1] : now.north, above[n]}};
      swept[fresh][y + n][x] = q_above[n] = first(s, Kind{Cell{i, j + n, k, 0}}, now.other[n]);
    }
    __syncthreads();
    if (k > bottom) {
#pragma unroll
      for (int n = 0; n < UY; ++n) {
        if (!mine[n]) continue;
        const real* q = &swept[behind][y + n][x];
        const Star s{q_here[n],
                     {q[-1], n ? q_here[n - 1] : q[-BX], q_below[n]},
                     {q[1], n < UY - 1 ? q_here[n + 1] : q[BX], q_above[n]}};
        (out - r.z)[rows.at[n]] = second(s, Kind{Cell{i, j + n, k - 1, 0}}, q_other[n]);
      }
    }
#pragma unroll
    for (int n = 0; n < UY; ++n) {
      q_below[n] = q_here[n], q_here[n] = q_above[n], q_other[n] = now.other[n];
      below[n] = now.here[n], next.here[n] = above[n], above[n] = farther[n];
    }
    now = next;
    behind = fresh;
    fresh = fresh == 2 ? 0 : fresh + 1;
  }
}

// out = second(first(p))
template <class Other, class First, class Second>
FN void twice(const Range& r, const Amid& amid, In p, Other d, Out out, First first, Second second) {
  const int i = r.lo[0] - 1 + int(blockIdx.x) * (BX - 2), j = r.lo[1] - 1 + int(blockIdx.y) * (HEIGHT - 2);
  if (i >= amid.low[0] && i + BX - 1 <= amid.high[0] && j >= amid.low[1] && j + HEIGHT - 1 <= amid.high[1]) {
    sweep_tile<CellAmid>(r, i, j, p, d, out, first, second);
  } else {
    sweep_tile<Cell>(r, i, j, p, d, out, first, second);
  }
}
