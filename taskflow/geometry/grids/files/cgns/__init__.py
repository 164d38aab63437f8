"""Grids in the format CGNS: structured zones of one base, in HDF5 files, as `cgns.org` has them (SIDS 4.5)."""

from taskflow.geometry.grids.files.cgns.reading import read_cgns
from taskflow.geometry.grids.files.cgns.writing import write_cgns

__all__ = ["read_cgns", "write_cgns"]
