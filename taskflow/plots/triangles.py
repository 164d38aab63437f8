"""A plane through body-fitted charts, drawn as triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.tri import LinearTriInterpolator, Triangulation

from taskflow.analysis.charts.derived import fields_of, second_invariant, speed
from taskflow.analysis.charts.metrics import choose
from taskflow.analysis.charts.plane_meshes import PlaneMesh, cut_mesh, cut_plane, flat_mesh, outlines
from taskflow.analysis.charts.sides import VELOCITY
from taskflow.analysis.planes import SPEED, CutPlane
from taskflow.common.errors import BadInput
from taskflow.output.store.chart_layout import CELLS
from taskflow.output.store.reading import charts
from taskflow.plots import DPI
from taskflow.plots.look import Look, label, title
from taskflow.plots.streamlines import draw_streamlines

NO_INTERFACE = "--interface: not of runs on charts in this version; omit it"
SIDE = 6.4  # inches along the longer side
ALONG = 120  # places for streamlines along the longer side
FINE = 20_000  # triangles
# Of a triangle: its corners, then the midpoints of its edges
QUARTERS = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
COMPUTED = {SPEED: speed, "Q": second_invariant}
Window = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True)
class TrianglePlane:
    """A plane of one record on charts: a grid in two dimensions, or the cut, if any, through another grid.

    `window` is the part to show, whose values determine the colour range. Values at vertices are the means of adjacent
    cells.
    """

    record: xr.DataTree
    mesh: PlaneMesh
    cut: CutPlane | None
    window: Window

    @classmethod
    def of(cls, record: xr.DataTree, plane: str | None, window: Window | None) -> TrianglePlane:
        """Return the plane "y" (the centre) or "y=0.3", by default across the shortest extent."""
        flat, cut = flat_mesh(record) if plane is None else None, cut_plane(record, plane)
        mesh = flat or cut_mesh(record, cut)
        return cls(record, mesh, None if flat else cut, window or _extent(mesh))

    def chosen(self, field: str | None) -> list[str]:
        """Return the field to draw, by default the speed. Raises BadInput if it does not exist."""
        shown(self.record, field := field or default_field(self.record))
        return [field]

    def panels(self, look: Look, count: int = 1) -> tuple[Figure, list[Axes]]:
        """Return a figure with panels in a row, in the proportions of the window, a title above the first."""
        left, right, bottom, top = self.window
        wide, tall = right - left, top - bottom
        if not (wide > 0 and tall > 0):
            remedy = "give left, right, bottom and top, each pair in increasing order"
            raise BadInput(f"window = {list(self.window)}: {remedy}")
        scale = SIDE / max(wide, tall)
        size = look.figure_size(count * (max(wide * scale, 2.4) + 1.6), max(tall * scale, 1.2) + 1.2, DPI)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(1, count, squeeze=False).flat)
        panels[0].set_title(title(self.record, self.cut), fontsize="medium", loc="left")
        for axes in panels:
            axes.set_aspect("equal")
            axes.set_xlim(left, right)
            axes.set_ylim(bottom, top)
            axes.set_xlabel(self.mesh.plane[0])
            axes.set_ylabel(self.mesh.plane[1])
        return figure, panels

    def draw(self, axes: Axes, field: str, look: Look, *, lines: bool = True) -> None:
        """Draw a field, recorded or derived, as colours over all charts, the speed with streamlines if `lines`."""
        drawn, mesh = shown(self.record, field), self.mesh
        _, first = next(charts(drawn))
        choose(first[field].squeeze(), *CELLS)
        values = mesh.at_points(drawn, field)
        triangles = Triangulation(mesh.points[:, 0], mesh.points[:, 1], mesh.triangles)
        (x, y), (left, right, bottom, top) = mesh.points.T, self.window
        seen = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
        words = label(first[field], first[field].attrs["long_name"])
        least = 0.0 if field == SPEED else None
        colours = look.colours(values[seen] if seen.any() else values, words, bottom=least, name=field)
        smooth, smooth_values = _finer(triangles, colours.shown(values))
        colours.bar(axes, axes.tripcolor(smooth, smooth_values, shading="gouraud", **colours.keywords))
        if field == SPEED and lines:
            velocity = [mesh.at_points(self.record, VELOCITY["xyz".index(a)]) for a in mesh.plane]
            _streamlines(axes, triangles, velocity, self.window)
        for _, line in outlines(self.record, mesh.plane) if self.cut is None else ():
            axes.plot(*line.T, color="black", linewidth=0.8)

    def interface(self, axes: Axes) -> None:
        raise BadInput(NO_INTERFACE)


def shown(record: xr.DataTree, field: str) -> xr.DataTree:
    """Return the record with a field, recorded or derived. Raises BadInput if it does not exist."""
    known = fields_of(record)
    if field not in COMPUTED and field not in known:
        raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(sorted(known))}")
    return record if field in known else COMPUTED[field](record)


def default_field(record: xr.DataTree) -> str:
    """Return the field to draw by default."""
    known = fields_of(record)
    return SPEED if set(VELOCITY) <= set(known) else known[0]


def _extent(mesh: PlaneMesh) -> Window:
    (left, bottom), (right, top) = mesh.points.min(axis=0), mesh.points.max(axis=0)
    return float(left), float(right), float(bottom), float(top)


def _finer(triangles: Triangulation, values: np.ndarray) -> tuple[Triangulation, np.ndarray]:
    """Return triangles, each divided into four until they are at least `FINE`, and values, linear in each.

    Inside a triangle matplotlib mixes the colours of the corners, which does not follow the colour map.
    """
    corners, parts = triangles.triangles, np.stack([triangles.x, triangles.y, values])[:, triangles.triangles]
    while len(corners) < FINE:
        both = np.concatenate([parts, (parts + np.roll(parts, -1, axis=2)) / 2], axis=2)
        parts = both[..., QUARTERS].reshape(3, -1, 3)
        corners = np.arange(parts[0].size).reshape(-1, 3)
    if corners is triangles.triangles:
        return triangles, values
    x, y, finer = parts.reshape(3, -1)
    return Triangulation(x, y, corners), finer


def _streamlines(axes: Axes, triangles: Triangulation, velocity: list[np.ndarray], window: Window) -> None:
    wide, tall = window[1] - window[0], window[3] - window[2]
    spacing = max(wide, tall) / ALONG
    x = np.linspace(*window[:2], max(8, round(wide / spacing)))
    y = np.linspace(*window[2:], max(8, round(tall / spacing)))
    try:
        along, upwards = (LinearTriInterpolator(triangles, component)(*np.meshgrid(x, y)) for component in velocity)
    except RuntimeError:  # triangles of cells that are not convex overlap: points cannot be located
        return
    outside = np.ma.getmaskarray(along)
    draw_streamlines(axes, x, y, (along.filled(0.0), upwards.filled(0.0)), outside, wide / tall)
