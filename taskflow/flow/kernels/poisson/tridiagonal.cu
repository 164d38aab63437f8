// The filters of filters.h for modes of periodic planes.
#include "plain.h"
#include "cell.h"
#include "filters.h"
