"""Questions to a dataset: derived fields, walls, planes, profiles, spectra, budgets, and the staggered grid for xgcm.

It knows the cells, fields and attributes of a dataset, as `taskflow.output` reads it, and the discrete physics behind
the answers. It does not know how a run computes, how its files are stored, what a case says, or how to draw.
"""
