// The launch of a stage, and what every stage is made of.
#define UZ 32
#define BX 32
#define BY 4
#define NARROWEST 4
#ifdef HAS_metrics
#define RESIDENT 4
#else
#define RESIDENT (sizeof(REAL) == 4 ? 8 : 4)
#endif
#include "cell.h"
#include "balance.h"
#include "pace.h"
#include "rate.h"
