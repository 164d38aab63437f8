/// # Finite volumes with inputs in shared memory: `#include "held.h"`
/// balance_held<N, AXES, Memory>(range, through, update, all(fields), all(own), values): balance_cells for fields that a GPU holds in shared memory
/// Holding<FIELDS, DEEP, VALUES, OWN>: which fields are held, and the reach of faces in them
/// held_steps(range): the strides of neighbours in held fields
/// all(fields...): the fields, in the order of their numbers
/// SHARED(bytes): shared memory of each thread block of a launch
// Finite volumes as in faces.h, with inputs in shared memory on a GPU: while a thread block works on a plane of cells, the next
// planes, and their surroundings, are copied there. A face waits for no memory, and computes few addresses.
//
//   using Memory = Holding<2, 1, 0, 1>;
//   SHARED(Memory::bytes)
//   TASK spread(Range range, In q, In p, In q_0, Out q_new) {
//     const auto steps = held_steps(range);
//     const auto flow = Memory::field<0>(q), pressure = Memory::field<1>(p), begun = Memory::own<0>(q_0);
//     balance_held<1, 3, Memory>(range, CELL(f) { return Values<1>{{flow[f - 2 * steps.of<f.axis>()] - pressure[f]}}; },
//                                STORE(c, out) { q_new[c] = begun[c] + out.of[0]; }, all(q, p), all(q_0), None{});
//   }
//
// Holding<FIELDS, DEEP, VALUES, OWN>: FIELDS numbered fields, of which the first DEEP are deep; one field of VALUES values per cell;
// OWN fields, in the updated cell itself. A face f, or an updated cell, may read from two cells below to one above along x and y,
// edges included, and along z only in these planes, relative to the cell f or the updated cell:
//
//                                        deep fields   others   values
//   faces across x and y, and cells         -1..+1        0      0..+1
//   faces across z                          -2..+1     -1..0    -1..0
//   with two AXES                              0         none      0
//
// This is not checked: elsewhere a GPU reads other numbers. A CPU, and a GPU whose thread blocks get less than 160 KB, read the
// arrays directly.
// Absent fields (None) are not counted, and have the last numbers.
#include "faces.h"

// The shared memory, in bytes, of the thread blocks of all kernels of a text.
#ifdef GPU
#define SHARED(bytes) extern "C" { __constant__ unsigned shared_bytes = bytes; }
#else
#define SHARED(bytes)
#endif

#if defined(GPU) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200))
#include "held_cuda.h"
#include "held_march.h"
#else
#include "held_host.h"
#endif
