#pragma once
// Sweeps over cells of ROWS unknowns, coupled to their neighbours by matrices of ROWS x ROWS, as in block triangular solves. The
// neighbours in other tiles come first, in the order of sides, then those in the same tile, along x, y and z.
#ifdef GPU
#include "sweep_rows_cuda.h"
#else
#include "sweep_rows_host.h"
#endif
