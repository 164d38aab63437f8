#pragma once
// Sweeps over cells of ROWS unknowns, whose values and whose neighbours' are bound by matrices of ROWS x ROWS, as in the triangular
// solves with blocks. The neighbours in other tiles come first, in the order of sides, then those in the same tile, along x, y and z.
#ifdef GPU
#include "sweep_rows_cuda.h"
#else
#include "sweep_rows_host.h"
#endif
