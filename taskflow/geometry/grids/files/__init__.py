"""Grids as files: PLOT3D with neutral maps, and CGNS."""
