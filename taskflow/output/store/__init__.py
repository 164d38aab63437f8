"""Zarr store of a run: layout, groups, shards, and reading."""
