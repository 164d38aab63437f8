// Eddy viscosities beside bodies, in which there are no eddies.
#define UZ 64
#define UNROLL 2
#define RESIDENT (sizeof(real) == 4 ? 4 : 1)
#define BX 64
#define BY 4
#include "cell.h"
#include "../eddies.h"
#include "../flags.h"

struct Beside {
  int bits;
  INLINE real seen(int n, real neighbour, real own) const { return closed(bits, n) ? -own : neighbour; }
  INLINE real per_two_cells(Axis a, int axis) const {
    return a.per_two_cells(closed(bits, 2 * axis), closed(bits, 2 * axis + 1));
  }
  INLINE bool solid() const { return (bits & ITSELF) != 0; }
};

struct Bodies {
  InByte solid;
  INLINE Beside at(Index c) const { return {solid[c]}; }
};

TASK smagorinsky_obstructed(Range range, In u, In v, In w, InByte solid, Out nu_t, Partial rate, Partial eddy, Grid grid,
                            real mixing) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Strained{mixing, grid}, Bodies{solid});
}

TASK smagorinsky_damped_obstructed(Range range, In u, In v, In w, InByte solid, Out nu_t, Partial rate, Partial eddy,
                                   Grid grid, real mixing, SmoothWalls walls) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Damped{mixing, walls, grid}, Bodies{solid});
}

TASK wale_obstructed(Range range, In u, In v, In w, InByte solid, Out nu_t, Partial rate, Partial eddy, Grid grid,
                     real mixing) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Adapting{mixing, grid}, Bodies{solid});
}

TASK vreman_obstructed(Range range, In u, In v, In w, InByte solid, Out nu_t, Partial rate, Partial eddy, Grid grid,
                       real constant) {
  evaluate(range, u, v, w, nu_t, rate, eddy, grid, Vanishing{constant, grid}, Bodies{solid});
}
