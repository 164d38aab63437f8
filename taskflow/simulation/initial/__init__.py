"""What a run begins with: formulas, saved values and random velocities without divergence."""
