"""Analysis of datasets: derived fields, walls, planes, profiles, spectra, budgets, and the staggered grid for xgcm.

It knows the cells, fields and attributes of a dataset as read by `taskflow.output`, and the discrete equations. It does
not know how a run computes, how its files are stored, the contents of a case, or how to draw.
"""
