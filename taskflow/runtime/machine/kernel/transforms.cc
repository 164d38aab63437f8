// Real Fourier transforms of planes and rows on a CPU, by the inner loops of NumPy's transforms, which are pocketfft's.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

using Complex = std::complex<REAL>;
using Size = std::intptr_t;

// A loop over rows: input, factor and output; the numbers of rows, of inputs and of outputs; strides of the rows of
// all three, of inputs and of outputs, in bytes.
struct Loop {
  void (*call)(char** arguments, const Size* numbers, const Size* strides, void* data);
  void* data;
};

// Planes of real values and of their modes, transformed `part` planes at a time. Strides are in bytes.
struct Planes {
  Size nx, ny, nz, part, values_y, values_z, modes_y, modes_z;
  Size rows, threads;  // rows: only along x
  Loop to_modes, to_values, along_y, back_along_y;
};

struct Lines {
  char* start;
  Size line, number, count;  // strides in bytes, and numbers in a line
};

static void transform(const Loop& loop, const Lines& from, const Lines& to, Size lines) {
  REAL factor = 1;
  char* arguments[] = {from.start, (char*)&factor, to.start};
  const Size numbers[] = {lines, from.count, to.count};
  const Size strides[] = {from.line, 0, to.line, from.number, to.number};
  loop.call(arguments, numbers, strides, loop.data);
}

// NumPy's loops read and write different memory.
static void transform_in_place(const Loop& loop, const Lines& from, const Lines& to, Size lines) {
  const Size bytes = to.count * to.number;
  std::vector<char> line(bytes);
  for (Size n = 0; n < lines; ++n) {
    transform(loop, {from.start + n * from.line, 0, from.number, from.count}, {line.data(), 0, to.number, to.count}, 1);
    std::memcpy(to.start + n * to.line, line.data(), bytes);
  }
}

// Some lines of each of `planes` planes at a time, on all threads.
template <class Work>
static void share(const Planes& p, Size planes, Size lines, Work work) {
  const Size pieces = (p.threads + planes - 1) / planes;
#pragma omp parallel for num_threads(p.threads) if (p.threads > 1)
  for (Size n = 0; n < planes * pieces; ++n) {
    const Size first = lines * (n % pieces) / pieces, end = lines * (n % pieces + 1) / pieces;
    if (first < end) work(n / pieces, first, end - first);
  }
}

static Lines rows_of(char* start, Size plane, Size row, Size z, Size first, Size number, Size count) {
  return {start + z * plane + first * row, row, number, count};
}

static void along_x(const Planes& p, const Loop& loop, char* values, char* modes, Size planes, bool back) {
  share(p, planes, p.ny, [&](Size z, Size first, Size lines) {
    const Lines real = rows_of(values, p.values_z, p.values_y, z, first, sizeof(REAL), p.nx);
    const Lines complex = rows_of(modes, p.modes_z, p.modes_y, z, first, sizeof(Complex), p.nx / 2 + 1);
    const auto go = values == modes ? transform_in_place : transform;
    go(loop, back ? complex : real, back ? real : complex, lines);
  });
}

static void along_y(const Planes& p, const Loop& loop, char* modes, Size planes) {
  share(p, planes, p.nx / 2 + 1, [&](Size z, Size first, Size lines) {
    const Lines columns = rows_of(modes, p.modes_z, sizeof(Complex), z, first, p.modes_y, p.ny);
    transform(loop, columns, columns, lines);
  });
}

template <class Work>
static void by_parts(void** block, Work work) {
  const Planes& p = *(const Planes*)block[0];
  for (Size z = 0; z < p.nz; z += p.part)
    work(p, (char*)block[1] + p.values_z * z, (char*)block[2] + p.modes_z * z, std::min(p.part, p.nz - z));
}

extern "C" void call_forward(void** block) {
  by_parts(block, [](const Planes& p, char* values, char* modes, Size planes) {
    along_x(p, p.to_modes, values, modes, planes, false);
    if (!p.rows) along_y(p, p.along_y, modes, planes);
  });
}

extern "C" void call_inverse(void** block) {
  by_parts(block, [](const Planes& p, char* values, char* modes, Size planes) {
    if (!p.rows) along_y(p, p.back_along_y, modes, planes);
    along_x(p, p.to_values, values, modes, planes, true);
  });
}
