"""Checkpoints: written, found, compared, put on other grids; states of other runs."""
