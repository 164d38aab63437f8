"""What a run records: snapshots, statistics, spectra, planes, probes, integrals and the log."""
