"""Velocities and temperatures that enter at an inflow, from formulas, a log law or a table."""
