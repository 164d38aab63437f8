// The filters of filters.h for modes of planes with walls.
#include "dct.h"
#include "cell.h"
#include "filters.h"
