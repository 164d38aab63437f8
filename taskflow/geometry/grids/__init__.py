"""Body-fitted grids of several charts: generators, files, metrics, ghost vertices."""

from taskflow.geometry.grids.atlas import Border, atlas, borders, places
from taskflow.geometry.grids.files import CGNS, map_beside, read_grid, write_grid
from taskflow.geometry.grids.gaps import Gap, gaps
from taskflow.geometry.grids.ghosts import ghosted
from taskflow.geometry.grids.grid import SIDES, BadGrid, Chart, GridSeam, MultiBlockGrid, Patch, closure, faces
from taskflow.geometry.grids.keys import GridShape, Key, Kind
from taskflow.geometry.grids.quality import Extreme, Quality, quality
from taskflow.geometry.grids.shapes import SHAPES, shape

__all__ = [
    "CGNS",
    "SHAPES",
    "SIDES",
    "BadGrid",
    "Border",
    "Chart",
    "Extreme",
    "Gap",
    "GridSeam",
    "GridShape",
    "Key",
    "Kind",
    "MultiBlockGrid",
    "Patch",
    "Quality",
    "atlas",
    "borders",
    "closure",
    "faces",
    "gaps",
    "ghosted",
    "map_beside",
    "places",
    "quality",
    "read_grid",
    "shape",
    "write_grid",
]
