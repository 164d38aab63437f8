"""What enters: velocities and temperatures of an inflow, from formulas, a log law or a table."""
