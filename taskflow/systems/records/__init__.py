"""Records of a run: snapshots, statistics, spectra, planes, probes, integrals and the log.

They know schedules, on one block. They do not know the layout of files.
"""
