"""Checkpoints: writing, finding, comparing and remapping them, and states of other runs."""
