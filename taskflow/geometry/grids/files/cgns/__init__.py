"""Grids in the format CGNS: structured zones of one base, in HDF5 files, as `cgns.org` has them (SIDS 4.5)."""
