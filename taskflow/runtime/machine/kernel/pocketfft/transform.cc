// Real Fourier transforms of planes and rows on a CPU, by pocketfft (github.com/scipy/pocketfft, commit 61f446c).
// SciPy has the same code, but for the vectors of any processor.
#define POCKETFFT_CACHE_SIZE 16
#define POCKETFFT_PTHREADS
#include "pocketfft_hdronly.h"

using std::ptrdiff_t;
using std::size_t;
using Complex = std::complex<REAL>;

// Planes of real values and of their modes, transformed `part` planes at a time. Strides are in bytes.
struct Planes {
  size_t nx, ny, nz, part;
  ptrdiff_t values_y, values_z, modes_y, modes_z;
  size_t rows, threads;  // rows: only along x
};

template <class Transform>
static void by_parts(void** block, Transform transform) {
  const Planes& p = *(const Planes*)block[0];
  for (size_t z = 0; z < p.nz; z += p.part) {
    char* values = (char*)block[1] + p.values_z * (ptrdiff_t)z;
    char* modes = (char*)block[2] + p.modes_z * (ptrdiff_t)z;
    transform(p, std::min(p.part, p.nz - z), (REAL*)values, (Complex*)modes);
  }
}

extern "C" void call_forward(void** block) {
  by_parts(block, [](const Planes& p, size_t nz, const REAL* values, Complex* modes) {
    const pocketfft::shape_t axes = p.rows ? pocketfft::shape_t{2} : pocketfft::shape_t{1, 2};
    pocketfft::r2c({nz, p.ny, p.nx}, {p.values_z, p.values_y, sizeof(REAL)}, {p.modes_z, p.modes_y, sizeof(Complex)},
                   axes, true, values, modes, REAL(1), p.threads);
  });
}

extern "C" void call_inverse(void** block) {
  by_parts(block, [](const Planes& p, size_t nz, REAL* values, Complex* modes) {
    const pocketfft::stride_t strides{p.modes_z, p.modes_y, sizeof(Complex)};
    if (!p.rows)
      pocketfft::c2c({nz, p.ny, p.nx / 2 + 1}, strides, strides, {1}, false, modes, modes, REAL(1), p.threads);
    pocketfft::c2r({nz, p.ny, p.nx}, strides, {p.values_z, p.values_y, sizeof(REAL)}, 2, false, modes, values, REAL(1),
                   p.threads);
  });
}
