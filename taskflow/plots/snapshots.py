"""Pictures and films of snapshots on a plane."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure

from taskflow.analysis.planes import VELOCITY, CutPlane, fluid_on_plane, on_cells, on_plane, plane_of, shown_fields
from taskflow.errors import BadInput
from taskflow.output import STORE
from taskflow.output.metadata import SOLID
from taskflow.output.reading import dataset, edges, extent, of_a_box, snapshot, uniform
from taskflow.plots import save
from taskflow.text import literal

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter

SIDE = 5.2  # inches along the longer side of a panel
DENSITY = 1.5  # streamlines, in units of 30 along the longer side
WIDE = 1.5  # width over height from which on panels are stacked
THIN = 10.0  # length over width from which on a domain is drawn wider than it is, to see anything

FRAMES, PER_SECOND, FILM_DPI = 400, 12, 100
BODY = 0.6  # the grey of bodies

Panel = Callable[[Axes, xr.Dataset, CutPlane], None]


def plot_run(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    time: float | None = None,
    out: str | Path | None = None,
    *,
    interface: bool = False,
) -> list[Path]:
    """Draw a snapshot of a run, the last one by default, on a plane; the files written.

    Without `field`: the velocity magnitude with streamlines, and the temperature where there is one; with it, that
    field. `plane` is "x", "y", "z" (the middle) or "z=0.3"; by default the middle of the thinnest direction. `out` is a
    file, whose suffix says the format, or a folder; by default the run's folder. `interface`: the line f = 1/2, too.
    Raises BadInput where something asked for is not there.
    """
    ds = snapshot(directory, time)
    cut = plane_of(ds, plane)
    names = [name for name in on_cells(ds) if name != SOLID]
    if field is not None and field not in names:
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(sorted(names))}")
    panels: list[Panel]
    if field is not None:
        panels, name = [_scalar(field)], field
    elif set(VELOCITY.values()) <= set(names):
        panels, name = [_speed, *([_scalar("T")] if "T" in names else [])], "velocity"
    else:
        name = "T" if "T" in names else min(names)
        panels = [_scalar(name)]
    if interface:
        _has_interface(names)
        panels = [partial(_with_interface, panel) for panel in panels]
    return [save(_figure(panels, ds, cut), directory, name, out)]


def animate_run(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    out: str | Path | None = None,
    *,
    interface: bool = False,
) -> Path:
    """Draw every snapshot of a run on a plane as a film (.gif, or .mp4 with ffmpeg), with one scale of colours; return
    the file written.

    Without `field`: the speed. `plane`, `out` and `interface` are as for `plot_run`. Of many snapshots every n-th is
    drawn.
    Raises BadInput where something asked for is not there.
    """
    ds = dataset(Path(directory) / STORE)
    of_a_box(ds, directory)
    known = shown_fields(ds)
    if not ds.sizes["time"]:
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    if field is not None and field not in known:
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(known)}")
    if interface:
        _has_interface(known)
    name, cut = field or known[0], plane_of(ds, plane)
    chosen = range(0, ds.sizes["time"], ceil(ds.sizes["time"] / FRAMES))
    frames = np.stack([fluid_on_plane(ds.isel(time=number), name, cut) for number in chosen]).astype("f4")
    low, high = float(np.nanmin(frames)), float(np.nanmax(frames))
    signed = low < 0 < high
    most = max(-low, high)

    domain = (*extent(ds, cut.across), *extent(ds, cut.up))
    aspect = min(max((domain[1] - domain[0]) / (domain[3] - domain[2]), 0.2), 5.0)
    figure = Figure(figsize=(SIDE * min(1.0, aspect) + 2.0, SIDE / max(1.0, aspect) + 1.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_facecolor(str(BODY))
    centres = ds[f"{cut.across}_c"].values, ds[f"{cut.up}_c"].values
    bottom, top, colours = (-most, most, "RdBu_r") if signed else (low, high, "viridis")
    image = axes.pcolormesh(*centres, frames[0], shading="nearest", vmin=bottom, vmax=top, cmap=colours)
    axes.set_xlim(*domain[:2])
    axes.set_ylim(*domain[2:])
    figure.colorbar(image, label=label(ds["u"], "velocity magnitude") if name == "speed" else name)
    axes.set_xlabel(label(ds[f"{cut.across}_c"], cut.across))
    axes.set_ylabel(label(ds[f"{cut.up}_c"], cut.up))
    path, writer = _film(directory, name, out)
    with writer.saving(figure, str(path), FILM_DPI):
        for number, values in zip(chosen, frames, strict=True):
            image.set_array(values)
            axes.set_title(title(ds.isel(time=number), cut), fontsize="medium")
            line = _draw_interface(axes, ds.isel(time=number), cut) if interface else None
            writer.grab_frame()
            if line is not None:
                line.remove()
    return path


def _film(directory: str | Path, name: str, out: str | Path | None) -> tuple[Path, AbstractMovieWriter]:
    """Return the file to write, and its writer. Raises BadInput where no writer is there for its format."""
    from matplotlib.animation import FFMpegWriter, PillowWriter  # loads what a single picture does not need

    path = Path(directory if out is None else out)
    if not path.suffix or path.is_dir():
        path = path / f"{name}.gif"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gif":
        return path, PillowWriter(fps=PER_SECOND)
    if path.suffix == ".mp4" and FFMpegWriter.isAvailable():
        return path, FFMpegWriter(fps=PER_SECOND)
    missing = "there is no ffmpeg here; choose .gif" if path.suffix == ".mp4" else "choose .gif or .mp4"
    raise BadInput(f"out = {str(path)!r}: cannot make this film: {missing}")


def _has_interface(names: Collection[str]) -> None:
    if "f" not in names:
        raise BadInput("--interface: f is not among the fields of this run; give output.fields with f, or leave it out")


def _with_interface(panel: Panel, axes: Axes, ds: xr.Dataset, plane: CutPlane) -> None:
    """Draw a panel with the line f = 1/2 over it."""
    panel(axes, ds, plane)
    _draw_interface(axes, ds, plane)


def _draw_interface(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> ContourSet | None:
    """Draw the line f = 1/2, where there is one."""
    values = fluid_on_plane(ds, "f", plane)
    if min(values.shape) < 2 or not np.nanmin(values) < 0.5 < np.nanmax(values):
        return None
    centres = ds[f"{plane.across}_c"].values, ds[f"{plane.up}_c"].values
    return axes.contour(*centres, values, levels=[0.5], colors=["white"], linewidths=1.5)


def draw_streamlines(ds: xr.Dataset, plane: CutPlane) -> Figure:
    """Return the magnitude of the velocity of a snapshot on a plane, with streamlines."""
    return _figure([_speed], ds, plane)


def title(ds: xr.Dataset, plane: CutPlane) -> str:
    """Return the case, the time and the plane."""
    return literal(f"{ds.attrs.get('title', '')}\nt = {float(ds['time']):g},  {plane}".strip())


def label(array: xr.DataArray, words: str) -> str:
    """Return words with the unit; a case in its own consistent units has none to show."""
    units = array.attrs.get("units", "1")
    return words if units == "1" else f"{words} [{units}]"


def _figure(panels: list[Panel], ds: xr.Dataset, plane: CutPlane) -> Figure:
    """Draw the panels beside each other, or above each other where they are wide, in the domain's proportions."""
    true = _aspect(ds, plane)
    aspect = min(max(true, 1 / THIN), THIN)
    width, height = SIDE * min(1.0, aspect), SIDE / max(1.0, aspect)
    rows, columns = (len(panels), 1) if aspect > WIDE else (1, len(panels))
    figure = Figure(figsize=(columns * (width + 1.6), rows * (height + 0.8) + 0.6), layout="constrained")
    figure.suptitle(title(ds, plane), fontsize="large")
    for axes, draw in zip(figure.subplots(rows, columns, squeeze=False).flat, panels, strict=True):
        draw(axes, ds, plane)
        _bodies(axes, ds, plane)
        axes.set_aspect(true / aspect)
        axes.set_xlim(*extent(ds, plane.across))
        axes.set_ylim(*extent(ds, plane.up))
        axes.locator_params(axis="x", nbins=max(2, round(1.2 * width)))
        axes.locator_params(axis="y", nbins=max(2, round(1.2 * height)))
        axes.set_xlabel(label(ds[f"{plane.across}_c"], plane.across))
        axes.set_ylabel(label(ds[f"{plane.up}_c"], plane.up))
    return figure


def _aspect(ds: xr.Dataset, plane: CutPlane) -> float:
    """Return width over height of the domain in the plane."""
    (left, right), (bottom, top) = extent(ds, plane.across), extent(ds, plane.up)
    return (right - left) / (top - bottom)


def _image(axes: Axes, ds: xr.Dataset, plane: CutPlane, values: np.ndarray, words: str, **colours: Any) -> None:
    """Draw values [up, across] of the cells as colours, with a colour bar."""
    if uniform(ds, plane.across) and uniform(ds, plane.up):
        domain = (*extent(ds, plane.across), *extent(ds, plane.up))
        image: Any = axes.imshow(values, origin="lower", extent=domain, interpolation="bilinear", **colours)
    else:
        image = axes.pcolormesh(edges(ds, plane.across), edges(ds, plane.up), values, **colours)
    axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0.0, 0.03, 1.0)), label=words)


def _bodies(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> None:
    """Draw the cells that are solid, in grey."""
    if SOLID not in ds:
        return
    solid = on_plane(ds, SOLID, plane) >= 0.5
    shade = np.ma.masked_where(~solid, np.full(solid.shape, BODY))
    cells = edges(ds, plane.across), edges(ds, plane.up)
    axes.pcolormesh(*cells, shade, cmap="gray", vmin=0.0, vmax=1.0, zorder=3)


def _speed(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> None:
    """Draw the velocity magnitude, of all three components, with streamlines of the two in the plane."""
    velocity = {axis: on_plane(ds, name, plane) for axis, name in VELOCITY.items()}
    speed = np.sqrt(sum(component**2 for component in velocity.values()))
    _image(axes, ds, plane, speed, label(ds["u"], "velocity magnitude"), cmap="viridis", vmin=0.0)
    along, upwards = velocity[plane.across], velocity[plane.up]
    aspect = _aspect(ds, plane)
    if min(speed.shape) >= 4 and np.hypot(along, upwards).max() > 0:
        x, y = _even(ds, plane.across), _even(ds, plane.up)
        axes.streamplot(
            x,
            y,
            _evenly(ds, plane, along, x, y),
            _evenly(ds, plane, upwards, x, y),
            color=(1.0, 1.0, 1.0, 0.75),
            linewidth=0.7,
            arrowsize=0.7,
            density=(DENSITY * min(1.0, aspect), DENSITY / max(1.0, aspect)),
        )


def _even(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return as many evenly spaced places along an axis as there are cells."""
    centres = ds[f"{axis}_c"].values
    return centres if uniform(ds, axis) else np.linspace(centres[0], centres[-1], len(centres))


def _evenly(ds: xr.Dataset, plane: CutPlane, values: np.ndarray, across: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return values [up, across] of the cells at evenly spaced places."""
    rows = np.array([np.interp(across, ds[f"{plane.across}_c"].values, row) for row in values])
    return np.array([np.interp(up, ds[f"{plane.up}_c"].values, column) for column in rows.T]).T


def _scalar(field: str) -> Panel:
    """Return a panel of a field: temperature with isolines, others with a scale that shows both signs."""

    def draw(axes: Axes, ds: xr.Dataset, plane: CutPlane) -> None:
        values = on_plane(ds, field, plane)
        names = dict.fromkeys((field, ds[field].attrs.get("long_name", field)))
        words = label(ds[field], ", ".join(names))
        top = float(np.abs(values).max())
        if field == "T":
            _image(axes, ds, plane, values, words, cmap="RdYlBu_r")
        elif values.min() < 0 < values.max():
            _image(axes, ds, plane, values, words, cmap="RdBu_r", vmin=-top, vmax=top)
        else:
            _image(axes, ds, plane, values, words, cmap="viridis")
        if field == "T" and min(values.shape) >= 2 and np.ptp(values) > 0:
            centres = ds[f"{plane.across}_c"].values, ds[f"{plane.up}_c"].values
            axes.contour(*centres, values, levels=15, colors="black", linewidths=0.5, linestyles="solid", alpha=0.6)

    return draw
