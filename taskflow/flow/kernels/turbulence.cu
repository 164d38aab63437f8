// Eddy viscosities.
#define UZ 64
#define UNROLL 2
#define RESIDENT (sizeof(real) == 4 ? 4 : 1)
#define BX 64
#define BY 4
#include "cell.h"
#include "eddies.h"

struct Free {
  INLINE Fluids at(Index) const { return {}; }
};

TASK smagorinsky(Range range, In u, In v, In w, Out nu_t, Partial rate, Partial eddy, Grid grid, real mixing) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Strained{mixing, grid}, Free{});
}

TASK smagorinsky_damped(Range range, In u, In v, In w, Out nu_t, Partial rate, Partial eddy, Grid grid, real mixing,
                        SmoothWalls walls) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Damped{mixing, walls, grid}, Free{});
}

TASK wale(Range range, In u, In v, In w, Out nu_t, Partial rate, Partial eddy, Grid grid, real mixing) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Adapting{mixing, grid}, Free{});
}

TASK vreman(Range range, In u, In v, In w, Out nu_t, Partial rate, Partial eddy, Grid grid, real constant) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Vanishing{constant, grid}, Free{});
}
