"""A plane through body-fitted charts, drawn as triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.tri import LinearTriInterpolator, Triangulation

from taskflow.analysis.charts.derived import derived, fields_of
from taskflow.analysis.charts.metrics import choose
from taskflow.analysis.charts.plane_meshes import PlaneMesh, cut_mesh, cut_plane, flat_mesh, outlines
from taskflow.analysis.charts.sides import VELOCITY
from taskflow.analysis.planes import CutPlane
from taskflow.common.derived_names import MAGNITUDES, SPEED, VORTICITY, WORDS, label_of
from taskflow.common.errors import BadInput
from taskflow.output.store.chart_layout import CELLS
from taskflow.output.store.metadata import PSEUDO_TIME, SOLID
from taskflow.output.store.reading import charts, patches
from taskflow.output.store.units import unit_of
from taskflow.plots import DPI
from taskflow.plots.look import Look, label, title, with_unit
from taskflow.plots.pixels import BODY
from taskflow.plots.streamlines import draw_streamlines

OPEN = "far-field"  # type of the sides around a wake
NO_INTERFACE = "--interface: not of runs on charts in this version; omit it"
SIDE = 6.4  # inches along the longer side
ALONG = 120  # places for streamlines along the longer side
FINE = 20_000  # triangles
# Of a triangle: its corners, then the midpoints of its edges
QUARTERS = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
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

    def chosen(self, field: str | None) -> str:
        """Return the field to draw, by default one that shows the kind of flow. Raises BadInput if it is unknown."""
        normal = "xyz".replace(self.mesh.plane[0], "").replace(self.mesh.plane[1], "")
        shown(self.record, field := field or default_field(self.record, normal))
        return field

    def values(self, field: str) -> np.ndarray:
        return np.concatenate([chart[field].values.ravel() for _, chart in charts(shown(self.record, field))])

    def panel(self, look: Look) -> tuple[Figure, Axes]:
        """Return a figure in the proportions of the window, with axes and a title."""
        left, right, bottom, top = self.window
        wide, tall = right - left, top - bottom
        if not (wide > 0 and tall > 0):
            remedy = "give left, right, bottom and top, each pair in increasing order"
            raise BadInput(f"window = {list(self.window)}: {remedy}")
        scale = SIDE / max(wide, tall)
        size = look.figure_size(max(wide * scale, 2.4) + 1.6, max(tall * scale, 1.2) + 1.2, DPI)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        axes.set_title(title(self.record, self.cut), fontsize="medium", loc="left")
        axes.set_aspect("equal")
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        _, first = next(charts(self.record))
        across, up = (label(first[f"{name}_c"], name) for name in self.mesh.plane)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        return figure, axes

    def draw(self, axes: Axes, field: str, look: Look, *, lines: bool = True) -> None:
        """Draw a field, recorded or derived, as colours over all charts, the speed with streamlines if `lines`."""
        drawn, mesh = shown(self.record, field), self.mesh
        _, first = next(charts(drawn))
        choose(first[field].squeeze(), *CELLS)
        values = mesh.at_points(drawn, field)
        triangles = Triangulation(mesh.points[:, 0], mesh.points[:, 1], mesh.triangles)
        (x, y), (left, right, bottom, top) = mesh.points.T, self.window
        seen = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
        words = label_of(field) if field in WORDS else first[field].attrs["long_name"]
        derived_one = field in WORDS and field != SPEED
        words = with_unit(words, unit_of(self.record.attrs, field)) if derived_one else label(first[field], words)
        least = 0.0 if field in MAGNITUDES else None
        colours = look.colours(values[seen] if seen.any() else values, words, bottom=least, name=field)
        smooth, smooth_values = _finer(triangles, colours.shown(values))
        colours.bar(axes, axes.tripcolor(smooth, smooth_values, shading="gouraud", **colours.keywords))
        if SOLID in next(charts(self.record))[1]:
            inside = mesh.at_points(self.record, SOLID)
            axes.tricontourf(triangles, inside, levels=[0.5, 1.5], colors=[BODY], zorder=3)
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
    if field not in known and field not in WORDS:
        choice = [*sorted(known), *(WORDS if set(VELOCITY) <= {*known} else ())]
        raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(choice)}")
    return record if field in known else derived(record, field)


def default_field(record: xr.DataTree, normal: str) -> str:
    """Return the temperature, the vorticity of a wake in time, or the speed."""
    known = fields_of(record)
    if "T" in known or not set(VELOCITY) <= set(known):
        return "T" if "T" in known else known[0]
    kinds = {record.attrs.get(f"boundary_{name}") for name in patches(record)}
    wake = {"wall", OPEN} <= kinds and PSEUDO_TIME not in record.attrs
    return f"{VORTICITY}_{normal}" if wake else SPEED


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
