"""The directory of a run: lock, replacement, provenance, report, pictures."""
