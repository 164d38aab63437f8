"""Grids: the staggered grid, on which values live, the sizes of its cells, and the stencils of its operators.

They know places and cells. They do not know what lives there.
"""

from taskflow.flow.grid.metrics import AXES, Counts, Flags, Grid, Vector, on_face
from taskflow.flow.grid.staggered import FACES, Places, Point, StaggeredGrid

__all__ = ["AXES", "FACES", "Counts", "Flags", "Grid", "Places", "Point", "StaggeredGrid", "Vector", "on_face"]
