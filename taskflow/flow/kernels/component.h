// One component of the velocity: that along the axis of a number.
#include "metrics.h"

struct Component {
  In q;
  int number;
  Axis axis;
};
