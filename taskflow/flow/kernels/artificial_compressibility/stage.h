// What every stage is made of.
#include "cell.h"
#include "balance.h"
#include "pace.h"
#include "rate.h"
