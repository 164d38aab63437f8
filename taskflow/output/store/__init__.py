"""The Zarr store of a run: its layout, groups and shards, and how it is read."""
