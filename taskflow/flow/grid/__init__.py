"""Grids: the staggered grid with the locations of values, cell sizes, and stencils.

They know positions and cells, but not the quantities there.
"""

from taskflow.flow.grid.metrics import AXES, Counts, Flags, Grid, Vector, on_face
from taskflow.flow.grid.staggered import FACES, Places, Point, StaggeredGrid

__all__ = ["AXES", "FACES", "Counts", "Flags", "Grid", "Places", "Point", "StaggeredGrid", "Vector", "on_face"]
