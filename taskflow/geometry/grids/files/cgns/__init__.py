"""CGNS grids: structured zones of one base, in HDF5 files, as in `cgns.org` (SIDS 4.5)."""
