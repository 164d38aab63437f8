"""Records of a run: snapshots, statistics, spectra, planes, probes, integrals and the log.

They know when something is due, on one block. They do not know how files are laid out.
"""
