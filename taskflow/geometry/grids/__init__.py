"""Body-fitted grids of several charts: generators, files, metrics, ghost vertices."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from taskflow.common.errors import BadArgument
from taskflow.geometry.grids.atlas import Border, atlas, borders, places
from taskflow.geometry.grids.files import CGNS, map_beside, read_grid, write_grid
from taskflow.geometry.grids.generators.box import BoxGrid, SkewedBox
from taskflow.geometry.grids.generators.c_grid import CGrid
from taskflow.geometry.grids.generators.channels import Bifurcation, Step, WavyChannel
from taskflow.geometry.grids.generators.options import GridShape
from taskflow.geometry.grids.generators.pipes import DuctBend, Pipe
from taskflow.geometry.grids.generators.round import Annulus, OGrid, Sector
from taskflow.geometry.grids.multiblock.gaps import Gap, gaps
from taskflow.geometry.grids.multiblock.ghost_vertices import ghosted
from taskflow.geometry.grids.multiblock.grid import BadGrid, Chart, MultiBlockGrid, closure, faces
from taskflow.geometry.grids.quality import quality
from taskflow.runtime.regions import SIDES, Patch

__all__ = [
    "SHAPES", "BadGrid", "Chart", "GridShape", "MultiBlockGrid", "Patch", "faces", "ghosted", "quality", "read_grid",
    "shape", "write_grid",
]  # fmt: skip

SHAPES: dict[str, type[GridShape]] = {
    kind.shape: kind
    for kind in (
        BoxGrid, SkewedBox, Annulus, Sector, OGrid, CGrid, Pipe, DuctBend, Step, WavyChannel, Bifurcation,
    )
}  # fmt: skip


def shape(name: str, keys: Mapping[str, Any]) -> GridShape:
    """Return the shape of this name with these keys. Raises BadGrid with all problems."""
    if name in SHAPES:
        return SHAPES[name].of(keys)
    near = get_close_matches(name, SHAPES, 1)
    remedy = f"did you mean {near[0]}?" if near else f"give one of {', '.join(SHAPES)}"
    raise BadGrid([BadArgument("shape", f'"{name}"', ": unknown shape", remedy)])
