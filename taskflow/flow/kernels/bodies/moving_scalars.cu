// Scalars in and around moving bodies: see taskflow/flow/bodies/moving_scalars.py.
#define UZ 1
#include "cell.h"
#include "../flags.h"

// mean = mean of q over neighbours outside of bodies, or over all without such neighbours. Ghost cells of walls are no
// neighbours.
TASK mean_beside(Range range, In q, InShort q_faces, Out mean, Grid grid) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    real sum = 0, count = 0, all = 0, neighbours = 0;
    const auto add = [&](Index at, bool within) {
      const bool outside = within && !(q_faces[at] & (STORED | HOLDS));
      all += within ? q[at] : real(0), neighbours += within ? real(1) : real(0);
      sum += outside ? q[at] : real(0), count += outside ? real(1) : real(0);
    };
    add(c - X, c.i != grid.first[0]), add(c + X, c.i != grid.last[0]);
    add(c - Y, c.j != grid.first[1]), add(c + Y, c.j != grid.last[1]);
    add(c - Z, c.k != grid.first[2]), add(c + Z, c.k != grid.last[2]);
    mean[c] = count > 0 ? sum / count : all / neighbours;
  });
}

// q = mean in bodies without a temperature
TASK fill_inside(Range range, InOut q, In mean, InShort q_faces) {
  for_cells(range, CELL(c) {
    const real old = q[c];
    q[c] = q_faces[c] & STORED ? mean[c] : old;
  });
}

// q = q_before in bodies without a temperature
TASK keep_inside(Range range, InOut q, In q_before, InShort q_faces) {
  for_cells(range, CELL(c) {
    const real old = q[c];
    q[c] = q_faces[c] & STORED ? q_before[c] : old;
  });
}

// T = body temperature inside, with conduction in adjacent cells; push gains a share of the change, per time
TASK exchange_heat(Range range, InOut T, InOut push_T, InShort T_faces, In conductance_T, In warm_T, In64 dt, real diffusivity,
                   real counts, int begins) {
  const real step = real(*dt), drawn = step * diffusivity;
  for_cells(range, CELL(c) {
    const real old = T[c], conductance = conductance_T[c], warm = warm_T[c], before = push_T[c];
    const real beside = conductance > 0 ? (old + drawn * warm) / (1 + drawn * conductance) : old;
    const real next = T_faces[c] & HOLDS ? warm : beside, gained = counts * ((next - old) / step);
    T[c] = next;
    push_T[c] = begins ? gained : before + gained;
  });
}

// T = body temperature in cells that have one
TASK hold_temperature(Range range, InOut T, InShort T_faces, In warm_T) {
  for_cells(range, CELL(c) {
    const real old = T[c];
    T[c] = T_faces[c] & HOLDS ? warm_T[c] : old;
  });
}
