"""Pictures of fields on charts: colour maps with streamlines, and loads on their sides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.tri import LinearTriInterpolator, Triangulation

from taskflow.analysis.charts.derived import fields_of, second_invariant, speed
from taskflow.analysis.charts.metrics import choose
from taskflow.analysis.charts.plane_meshes import PlaneMesh, cut_mesh, cut_plane, flat_mesh, outlines
from taskflow.analysis.charts.sides import VELOCITY, side
from taskflow.analysis.planes import SPEED
from taskflow.common.errors import BadInput
from taskflow.common.point_location import NEAR
from taskflow.common.text import literal
from taskflow.output import STORE, has_charts
from taskflow.output.store.chart_layout import CELLS
from taskflow.output.store.metadata import moment
from taskflow.output.store.reading import charts, snapshot_of, tree
from taskflow.plots import DPI, save
from taskflow.plots.given import given_ranges
from taskflow.plots.look import Look
from taskflow.plots.snapshots import label
from taskflow.plots.streamlines import draw_streamlines

SIDE = 6.4  # inches along the longer side
ALONG = 120  # places for streamlines along the longer side
FINE = 20_000  # triangles
# Of a triangle: its corners, then the midpoints of its edges
QUARTERS = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
COMPUTED = {SPEED: speed, "Q": second_invariant}
STATISTICS = "statistics"  # a group of the store
Window = tuple[float, float, float, float]  # left, right, bottom, top


def plot_charts(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    time: float | None = None,
    out: str | Path | None = None,
    window: Window | None = None,
    look: Look = Look(),  # noqa: B008  a value
) -> Path:
    """Draw a snapshot of a run on charts, by default the last, as `draw_charts` does, and return the written file.

    A `field` that only exists in the statistics is drawn from them. Raises BadInput if a requested item does not exist.
    """
    store = Path(directory) / STORE
    averaged = fields_of(tree(store, STATISTICS)) if has_charts(store, STATISTICS) else []
    record = snapshot_of(directory, time, STATISTICS if field in averaged else "")
    field = field or default_field(record)
    name = "velocity" if field == SPEED else field
    look = replace(look, given=given_ranges(tree(store)))
    return save(draw_charts(record, field, plane, window, look), directory, name, out)


def draw_charts(
    record: xr.DataTree,
    field: str | None = None,
    plane: str | None = None,
    window: Window | None = None,
    look: Look = Look(),  # noqa: B008  a value
    *,
    lines: bool = True,
) -> Figure:
    """Return a figure of a field of one record, or `Q`, as colours over all charts.

    Values at vertices are the means of adjacent cells. Without `field` the speed is drawn, with streamlines if `lines`.
    A grid in two dimensions is drawn directly. Another grid is cut by a `plane`, "y" for the centre or "y=0.3", by
    default across its shortest extent. `window` is the part to show, whose values determine the colour range. Raises
    BadInput if a requested item does not exist.
    """
    field = field or default_field(record)
    drawn = shown(record, field)
    flat = flat_mesh(record) if plane is None else None
    cut = cut_plane(record, plane)
    mesh = flat or cut_mesh(record, cut)
    window = window or _extent(mesh)
    figure, axes = _figure(window, look)
    _, first = next(charts(drawn))
    choose(first[field].squeeze(), *CELLS)
    values = mesh.at_points(drawn, field)
    triangles = Triangulation(mesh.points[:, 0], mesh.points[:, 1], mesh.triangles)
    (x, y), (left, right, bottom, top) = mesh.points.T, window
    seen = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    words = label(first[field], first[field].attrs["long_name"])
    least = 0.0 if field == SPEED else None
    colours = look.colours(values[seen] if seen.any() else values, words, bottom=least, name=field)
    smooth, smooth_values = _finer(triangles, colours.shown(values))
    colours.bar(axes, axes.tripcolor(smooth, smooth_values, shading="gouraud", **colours.keywords))
    if field == SPEED and lines:
        _streamlines(axes, triangles, [mesh.at_points(record, VELOCITY["xyz".index(a)]) for a in mesh.plane], window)
    for _, line in outlines(record, mesh.plane) if flat else ():
        axes.plot(*line.T, color="black", linewidth=0.8)
    when = moment(record.attrs, float(record.coords["time"]))
    heading = f"{record.attrs.get('title', '')}\n{when}{'' if flat else f',  {cut}'}"
    axes.set_title(literal(heading.strip()), fontsize="medium", loc="left")
    axes.set_xlabel(mesh.plane[0])
    axes.set_ylabel(mesh.plane[1])
    look.trim(figure)
    return figure


def shown(record: xr.DataTree, field: str) -> xr.DataTree:
    """Return the record with a field, recorded or derived. Raises BadInput if it does not exist."""
    known = fields_of(record)
    if field not in COMPUTED and field not in known:
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(sorted(known))}")
    return record if field in known else COMPUTED[field](record)


def default_field(record: xr.DataTree) -> str:
    """Return the field to draw by default."""
    known = fields_of(record)
    return SPEED if set(VELOCITY) <= set(known) else known[0]


def _extent(mesh: PlaneMesh) -> Window:
    (left, bottom), (right, top) = mesh.points.min(axis=0), mesh.points.max(axis=0)
    return float(left), float(right), float(bottom), float(top)


def _figure(window: Window, look: Look) -> tuple[Figure, Axes]:
    wide, tall = window[1] - window[0], window[3] - window[2]
    if not (wide > 0 and tall > 0):
        raise BadInput(f"window = {list(window)}: give left, right, bottom and top, each pair in increasing order")
    scale = SIDE / max(wide, tall)
    size = look.figure_size(max(wide * scale, 2.4) + 1.6, max(tall * scale, 1.2) + 1.2, DPI)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_aspect("equal")
    axes.set_xlim(*window[:2])
    axes.set_ylim(*window[2:])
    return figure, axes


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


def plot_side(directory: str | Path, name: str, time: float | None = None, out: str | Path | None = None) -> Path:
    """Draw pressure and shear stress along a side of a run on charts, and return the written file.

    They are drawn over x, or over y or z if x is constant. With the attribute `reference_speed` U they are the
    coefficients c_p = 2 p / U^2 and c_f = 2 t / U^2, where the stress t has the sign of its component along that axis.
    Raises BadInput if a requested item does not exist.
    """
    on = side(snapshot_of(directory, time), name)
    extents = {axis: float(np.ptp(on[axis].values)) for axis in "xyz"}
    longest = max(extents, key=lambda name: extents[name])
    axis = "x" if extents["x"] > NEAR * extents[longest] else longest
    speed = float(on.attrs.get("reference_speed", np.nan))
    scale, marks = (2 / speed**2, ("c_p", "c_f")) if speed > 0 else (1.0, ("p", "shear stress"))
    curves = [(marks[0], on["p_face"].values)] if "p_face" in on else []
    if "shear_x" in on:
        stress = np.stack([on[f"shear_{a}"].values for a in "xyz"])
        curves.append((marks[1], np.copysign(np.sqrt((stress**2).sum(axis=0)), stress["xyz".index(axis)])))
    if not curves:
        raise BadInput(f"side = {name!r}: there is no p and no shear stress; record p, u, v, w (output.fields)")
    figure = Figure(figsize=(5.4 * len(curves), 4.2), layout="constrained")
    heading = f"{on.attrs.get('title', '')}: {name}, {moment(on.attrs, float(on['time']))}"
    figure.suptitle(literal(heading), fontsize="medium")
    for axes, (words, values) in zip(figure.subplots(1, len(curves), squeeze=False).flat, curves, strict=True):
        axes.plot(on[axis].values, scale * values, ".", markersize=4, color="tab:blue")
        axes.set_xlabel(axis)
        axes.set_ylabel(f"${words}$" if "_" in words else words)
        axes.grid(alpha=0.3)
    return save(figure, directory, "side", out)
