"""Measures of a flow while it runs: monitors, fluxes, statistics, budgets, spectra, isosurfaces, particles.

They know what any model can be asked. They do not know which one it is, nor when to measure.
"""
