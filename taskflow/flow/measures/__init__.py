"""Measures of a flow while it runs: monitors, fluxes, statistics, budgets, spectra, isosurfaces. They ask any model."""
