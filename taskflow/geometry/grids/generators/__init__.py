"""Generators of body-fitted grids, and their options."""
