// The elimination of elimination.h for modes of planes with walls.
#include "dct.h"
#include "cell.h"
#include "elimination.h"
