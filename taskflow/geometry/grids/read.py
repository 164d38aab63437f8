"""Grids from files."""

from __future__ import annotations

from pathlib import Path

from taskflow.geometry.grids.assembled import Part, assembled, joined, malformed
from taskflow.geometry.grids.grid import Chart, Grid
from taskflow.geometry.grids.neutral_map import read_map
from taskflow.geometry.grids.plot3d import read_plot3d
from taskflow.geometry.grids.problems import BadGrid, all_right, unavailable


def read_grid(path: Path, neutral_map: Path | None = None, scale: float = 1.0) -> Grid:
    """Return the grid of a PLOT3D file, its lengths times `scale`, with the seams and sides of a neutral map. Without
    one seams are found from faces that coincide, and sides are called by side and chart: k_min_1.

    Raises BadInput where the files cannot be read, BadGrid with all that is wrong with the grid.
    """
    if path.suffix.lower() == ".cgns":
        raise BadGrid([unavailable(str(path), None, "CGNS is", "convert it to PLOT3D with a neutral map")])
    charts = read_plot3d(path)
    if scale != 1.0:
        charts = tuple(Chart(chart.vertices * scale) for chart in charts)
    if neutral_map is None:
        return assembled([Part(chart.vertices, {}) for chart in charts])
    all_right(malformed(charts))
    return joined(charts, *read_map(neutral_map, charts))


def map_beside(path: Path) -> Path | None:
    """The neutral map of the same name beside a file, if there is one."""
    beside = path.with_suffix(".nmf")
    return beside if beside.is_file() else None
