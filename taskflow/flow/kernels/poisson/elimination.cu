// The elimination of elimination.h for modes of periodic planes.
#include "plain.h"
#include "cell.h"
#include "elimination.h"
