"""Grid files: PLOT3D with neutral maps, and CGNS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from taskflow.common.errors import BadInput
from taskflow.common.foreign import GRID, foreign
from taskflow.geometry.grids.files.cgns.reading import read_cgns
from taskflow.geometry.grids.files.cgns.writing import write_cgns
from taskflow.geometry.grids.files.neutral_map import read_map, write_map
from taskflow.geometry.grids.files.plot3d import read_plot3d
from taskflow.geometry.grids.files.plot3d_writing import write_plot3d
from taskflow.geometry.grids.multiblock.assembly import Part, assembled, joined, malformed
from taskflow.geometry.grids.multiblock.grid import BadGrid, Chart, MultiBlockGrid, all_right

CGNS = ".cgns"  # the suffix of files in that format


def read_grid(path: Path, neutral_map: Path | None = None, scale: float = 1.0) -> MultiBlockGrid:
    """Return the grid of a file, with lengths times `scale`.

    A file with the suffix `.cgns` is CGNS and has its own seams and sides. Any other file is PLOT3D, with the seams and
    sides of a neutral map. Without a map, coincident faces become seams, and sides are named by side and chart:
    k_min_1. Raises BadInput if files cannot be read, and BadGrid with all problems of the grid.
    """
    try:
        return _read(path, neutral_map, scale)
    except BadInput:
        if words := foreign(path, GRID):
            raise BadInput(f"{path}: {words}") from None
        raise


def _read(path: Path, neutral_map: Path | None, scale: float) -> MultiBlockGrid:
    if path.suffix.lower() == CGNS:
        if neutral_map is not None:
            raise BadInput(f"{neutral_map}: {path} has its own seams and sides; omit the map")
        with _named(path):
            return read_cgns(path, scale)
    charts = read_plot3d(path)
    if scale != 1.0:
        charts = tuple(Chart(chart.vertices * scale) for chart in charts)
    if neutral_map is None:
        with _named(path):
            return assembled([Part(chart.vertices, {}) for chart in charts])
    with _named(path):
        all_right(malformed(charts))
    seams, sides = read_map(neutral_map, charts)
    with _named(path):
        return joined(charts, seams, sides)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the name of the file to all problems of a BadGrid that lack it."""
    try:
        yield
    except BadGrid as error:
        texts = map(str, error.problems)
        raise BadGrid(BadInput(text if str(path) in text else f"{path}: {text}") for text in texts) from None


def map_beside(path: Path) -> Path | None:
    """Return the neutral map of the same name next to a PLOT3D file, or None."""
    beside = path.with_suffix(".nmf")
    return beside if path.suffix.lower() != CGNS and beside.is_file() else None


def write_grid(path: Path, grid: MultiBlockGrid, *, text: bool = False) -> Path | None:
    """Write a grid as CGNS if that is the suffix, else as PLOT3D with a neutral map next to it, and return the map's
    path.
    """
    if path.suffix.lower() == CGNS:
        write_cgns(path, grid)
        return None
    write_plot3d(path, grid.charts, text=text)
    beside = path.with_suffix(".nmf")
    write_map(beside, grid)
    return beside
