/// # Finite volumes with inputs in shared memory: `#include "held.h"`
/// balance_held<N, AXES, Memory>(range, through, update, all(fields), all(own), values): balance_cells of fields that a GPU holds
/// Holding<FIELDS, DEEP, VALUES, OWN>: which fields are held, and how far faces read them
/// held_steps(range): the offsets between neighbours in what is held
/// all(fields...): the fields, in the order of their numbers
/// SHARED(bytes): what a launch gives each thread block
// Finite volumes as in faces.h, whose inputs a GPU holds in shared memory: while a thread block works on a plane of cells, the next
// ones, and what surrounds them, are copied there. A face waits for no memory, and computes few addresses.
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
// Holding<FIELDS, DEEP, VALUES, OWN>: of so many fields, which have numbers, those before number DEEP are deep; of a field of VALUES;
// of OWN fields, in the cell itself that is updated. A face f, or a cell that is updated, may read from two cells below to one above
// along x and y, edges included, and along z in these planes alone, counted from the cell f or that one:
//
//                                        deep fields   others   values
//   faces across x and y, and cells         -1..+1        0      0..+1
//   faces across z                          -2..+1     -1..0    -1..0
//   with two AXES                              0         none      0
//
// Nobody checks that: anywhere else a GPU reads other numbers. A CPU has the arrays, and nothing to hold, and so has a GPU whose thread
// blocks get less than 160 KB.
// Fields that are left out (None) are not counted, and have the last numbers.
#include "faces.h"

// Launches of the kernels of a text give thread blocks so many bytes of shared memory.
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
