"""What is measured of a flow while it runs: monitors, fluxes, statistics, budgets, spectra, isosurfaces."""
