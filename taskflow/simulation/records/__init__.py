"""Records of a run: snapshots, statistics, spectra, planes, probes, integrals and the log."""
