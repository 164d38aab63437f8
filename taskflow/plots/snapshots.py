"""Pictures of snapshots on a plane."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from taskflow.analysis.planes import SPEED, VELOCITY, CutPlane, fluid_on_plane, on_cells, on_plane, plane_of
from taskflow.common.errors import BadInput
from taskflow.common.text import literal
from taskflow.output.store.metadata import SOLID, moment
from taskflow.output.store.reading import box_snapshots, edges, extent, snapshot
from taskflow.plots import DPI, save
from taskflow.plots.given import given_ranges
from taskflow.plots.look import Colours, Look
from taskflow.plots.streamlines import draw_streamlines

SIDE, FLAT_SIDE = 5.2, 7.8  # inches along the longer side of a panel, of a flat one
WIDE, FLAT = 1.5, 3.0  # smallest width over height of stacked and of flat panels
THIN = 10.0  # largest length over width in a picture, so that thin domains stay visible
POINTS = 1000  # of an image along a side, at most
BODY = 0.6  # the grey of bodies

Panel = Callable[[Axes, xr.Dataset, CutPlane, Look], None]


def plot_run(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    time: float | None = None,
    out: str | Path | None = None,
    *,
    interface: bool = False,
    look: Look = Look(),  # noqa: B008  a value
) -> list[Path]:
    """Draw a snapshot of a run, by default the last, on a plane, and return the written files.

    Without `field` the velocity magnitude is drawn with streamlines, and the temperature if it exists. With it, this
    field or the "speed". `plane` is "x", "y", "z" (the centre) or "z=0.3", by default the centre of the thinnest
    direction. `out` is a file, whose suffix selects the format, or a folder, by default the run's folder. `interface`
    adds the line f = 1/2. Raises BadInput if a requested item does not exist.
    """
    ds, look = snapshot(directory, time), replace(look, given=given_ranges(box_snapshots(directory)))
    cut = plane_of(ds, plane)
    names = [name for name in on_cells(ds) if name != SOLID]
    flows = set(VELOCITY.values()) <= set(names)
    known = [*names, *([SPEED] if flows else [])]
    if field is not None and field not in known:
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(sorted(known))}")
    drawn = [field] if field is not None else [SPEED] if flows else [] if "T" in names else [min(names)]
    drawn += ["T"] if field is None and "T" in names else []
    if len(drawn) > 1 and (look.range is not None or look.log or look.cmap is not None):
        raise BadInput(f"--range, --log, --cmap: {' and '.join(drawn)} are drawn; choose one, as --field {drawn[0]}")
    panels = [_speed if name == SPEED else _scalar(name) for name in drawn]
    if interface:
        has_interface(names)
    name = "velocity" if drawn[0] == SPEED else drawn[0]
    return [save(_figure(panels, ds, cut, look, interface=interface), directory, name, out)]


def has_interface(names: Collection[str]) -> None:
    """Raise BadInput if a run has not recorded the share of a phase."""
    if "f" not in names:
        raise BadInput("--interface: f is not among the fields of this run; give output.fields with f, or leave it out")


def draw_interface(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> ContourSet | None:
    """Draw the line f = 1/2, if it exists."""
    values = fluid_on_plane(ds, "f", plane)
    if min(values.shape) < 2 or not np.nanmin(values) < 0.5 < np.nanmax(values):
        return None
    centres = ds[f"{plane.across}_c"].values, ds[f"{plane.up}_c"].values
    return axes.contour(*centres, values, levels=[0.5], colors=["white"], linewidths=1.5)


def streamlines_of(ds: xr.Dataset, plane: CutPlane) -> Figure:
    """Return a figure of the velocity magnitude of a snapshot on a plane, with streamlines."""
    return _figure([_speed], ds, plane, Look())


def title(ds: xr.Dataset, plane: CutPlane) -> str:
    """Return the case, the time (except for means) and the plane."""
    when = f"{moment(ds.attrs, float(ds['time']))},  " if "time" in ds.coords else ""
    return literal(f"{ds.attrs.get('title', '')}\n{when}{plane}".strip())


def label(array: xr.DataArray, words: str) -> str:
    """Return words with the unit, or without one for a case in consistent units."""
    units = array.attrs.get("units", "1")
    return words if units == "1" else f"{words} [{units}]"


def words_of(ds: xr.Dataset, field: str) -> str:
    """Return the description of a field, with its unit."""
    if field == SPEED:
        return label(ds["u"], "velocity magnitude")
    return label(ds[field], ", ".join(dict.fromkeys((field, ds[field].attrs.get("long_name", field)))))


def panels_of(ds: xr.Dataset, plane: CutPlane, look: Look, count: int = 1, dpi: int = DPI) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in a row, or in a column if they are wide, in the proportions of the domain.

    They have axes, bodies and a title above the first.
    """
    true = _aspect(ds, plane)
    aspect = min(max(true, 1 / THIN), THIN)
    side = FLAT_SIDE if aspect > FLAT else SIDE
    width, height = side * min(1.0, aspect), side / max(1.0, aspect)
    rows, columns = (count, 1) if aspect > WIDE else (1, count)
    size = look.figure_size(columns * (width + 1.6), rows * (height + 0.8) + 0.6, dpi)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    panels[0].set_title(title(ds, plane), fontsize="medium", loc="left")
    for axes in panels:
        _bodies(axes, ds, plane)
        axes.set_aspect(true / aspect)
        axes.set_xlim(*extent(ds, plane.across))
        axes.set_ylim(*extent(ds, plane.up))
        axes.locator_params(axis="x", nbins=max(3, round(1.2 * width)))
        axes.locator_params(axis="y", nbins=max(3, round(1.5 * height)))
        axes.set_xlabel(label(ds[f"{plane.across}_c"], plane.across))
        axes.set_ylabel(label(ds[f"{plane.up}_c"], plane.up))
    return figure, panels


def draw_image(axes: Axes, ds: xr.Dataset, plane: CutPlane, values: np.ndarray, colours: Colours) -> AxesImage:
    """Draw values [up, across] of the cells as colours, with a colour bar."""
    domain = (*extent(ds, plane.across), *extent(ds, plane.up))
    pixels = image_of(ds, plane, colours.shown(values))
    image = axes.imshow(
        pixels, origin="lower", extent=domain, aspect=axes.get_aspect(), interpolation="bilinear", **colours.keywords
    )
    colours.bar(axes, image)
    return image


def colours_of(field: str, values: np.ndarray, words: str, look: Look) -> Colours:
    """Return the colours of values of a field. A speed starts at 0, and the zero of a temperature is arbitrary."""
    bottom = {SPEED: 0.0, "T": float(np.nanmin(values)) if np.isfinite(values).any() else 0.0}.get(field)
    return look.colours(values, words, "RdYlBu_r" if field == "T" else "viridis", bottom, field)


def image_of(ds: xr.Dataset, plane: CutPlane, values: np.ndarray) -> np.ndarray:
    """Return values [up, across] of the cells at evenly spaced points that show the smallest cell."""
    return _evenly(ds, plane, values, *(_pixels(ds, axis) for axis in (plane.across, plane.up)))


def _pixels(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the centres of equal parts no wider than the smallest cell, at most POINTS."""
    places = edges(ds, axis)
    whole = places[-1] - places[0]
    count = max(len(places) - 1, min(POINTS, ceil(whole / np.diff(places).min() * (1 - 1e-9))))
    return places[0] + (np.arange(count) + 0.5) * whole / count


def _figure(panels: list[Panel], ds: xr.Dataset, plane: CutPlane, look: Look, *, interface: bool = False) -> Figure:
    """Draw the panels, with the line f = 1/2 over each if `interface`."""
    figure, places = panels_of(ds, plane, look, len(panels))
    for axes, draw in zip(places, panels, strict=True):
        draw(axes, ds, plane, look)
        if interface:
            draw_interface(axes, ds, plane)
    look.trim(figure)
    return figure


def _aspect(ds: xr.Dataset, plane: CutPlane) -> float:
    """Return width over height of the domain in the plane."""
    (left, right), (bottom, top) = extent(ds, plane.across), extent(ds, plane.up)
    return (right - left) / (top - bottom)


def _bodies(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> None:
    """Draw solid cells in grey."""
    solid = solid_on(ds, plane)
    if solid.any():
        shade = np.ma.masked_where(~solid, np.full(solid.shape, BODY))
        cells = edges(ds, plane.across), edges(ds, plane.up)
        axes.pcolormesh(*cells, shade, cmap="gray", vmin=0.0, vmax=1.0, zorder=3)


def solid_on(ds: xr.Dataset, plane: CutPlane) -> np.ndarray:
    """Return a mask [up, across] of solid cells."""
    shape = (ds.sizes[f"{plane.up}_c"], ds.sizes[f"{plane.across}_c"])
    return on_plane(ds, SOLID, plane) >= 0.5 if SOLID in ds else np.zeros(shape, dtype=bool)


def _speed(axes: Axes, ds: xr.Dataset, plane: CutPlane, look: Look) -> None:
    """Draw the velocity magnitude, of all three components, with streamlines of the two in the plane."""
    velocity = {axis: on_plane(ds, name, plane) for axis, name in VELOCITY.items()}
    speed = np.sqrt(sum(component**2 for component in velocity.values()))
    solid = solid_on(ds, plane)
    colours = colours_of(SPEED, np.where(solid, np.nan, speed), words_of(ds, SPEED), look)
    draw_image(axes, ds, plane, speed, colours)
    x, y = _even(ds, plane.across), _even(ds, plane.up)
    even = (_evenly(ds, plane, velocity[plane.across], x, y), _evenly(ds, plane, velocity[plane.up], x, y))
    aspect = min(max(_aspect(ds, plane), 1 / THIN), THIN)
    draw_streamlines(axes, x, y, even, _evenly(ds, plane, solid.astype("f8"), x, y) >= 0.5, aspect)


def _even(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return evenly spaced points along an axis, from the first centre to the last, one per cell."""
    centres = ds[f"{axis}_c"].values
    return np.linspace(centres[0], centres[-1], len(centres))


def _evenly(ds: xr.Dataset, plane: CutPlane, values: np.ndarray, across: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return values [up, across] of the cells at evenly spaced points."""
    rows = np.array([np.interp(across, ds[f"{plane.across}_c"].values, row) for row in values])
    return np.array([np.interp(up, ds[f"{plane.up}_c"].values, column) for column in rows.T]).T


def _scalar(field: str) -> Panel:
    """Return a panel of a field: temperature with isolines, others with a scale that shows both signs."""

    def draw(axes: Axes, ds: xr.Dataset, plane: CutPlane, look: Look) -> None:
        values, fluid = on_plane(ds, field, plane), fluid_on_plane(ds, field, plane)
        draw_image(axes, ds, plane, values, colours_of(field, fluid, words_of(ds, field), look))
        if field == "T" and min(values.shape) >= 2 and np.nanmax(fluid) > np.nanmin(fluid):
            centres = ds[f"{plane.across}_c"].values, ds[f"{plane.up}_c"].values
            levels = np.linspace(float(np.nanmin(fluid)), float(np.nanmax(fluid)), 17)[1:-1]
            axes.contour(*centres, fluid, levels=levels, colors="black", linewidths=0.5, linestyles="solid", alpha=0.6)

    return draw
