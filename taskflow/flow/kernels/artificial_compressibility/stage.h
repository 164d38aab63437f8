// The launch of a stage, and what every stage is made of.
#define UZ 32
#define BX 32
#define NARROWEST 4
#ifdef HAS_metrics
#define BY (sizeof(REAL) == 4 ? 4 : 8)
#define RESIDENT (sizeof(REAL) == 4 ? 5 : 2)
#define BUFFERS (sizeof(REAL) == 4 ? 2 : 1)
#else
#define BY 4
#define RESIDENT (sizeof(REAL) == 4 ? 8 : 4)
#endif
#include "cell.h"
#include "balance.h"
#include "pace.h"
#include "rate.h"
