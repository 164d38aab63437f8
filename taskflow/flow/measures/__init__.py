"""Measures of a running flow: monitors, fluxes, statistics, budgets, spectra, isosurfaces, particles.

They know the common interface of models, but not which model runs, nor when to measure.
"""
