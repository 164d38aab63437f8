"""The initial state of a run: formulas, saved values and random velocities without divergence."""
