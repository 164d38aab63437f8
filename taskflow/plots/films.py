"""Films of snapshots on a plane, or on charts as `taskflow plot` draws them without streamlines, with one colour scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from taskflow.analysis.charts.metrics import vertices_of
from taskflow.analysis.charts.plane_meshes import cut_plane, flat_plane
from taskflow.analysis.planes import SPEED, fluid_on_plane, plane_of, shown_fields
from taskflow.common.errors import BadInput
from taskflow.common.point_location import reach
from taskflow.output import STORE, has_charts
from taskflow.output.store.reading import box_snapshots, charts, tree
from taskflow.output.store.rigid_motion import POSE
from taskflow.plots import DPI
from taskflow.plots.given import given_ranges
from taskflow.plots.look import Look, title
from taskflow.plots.pixels import BODY, PixelPlane, require_interface, words_of
from taskflow.plots.snapshots import NO_WINDOW, draw, plane_through
from taskflow.plots.triangles import NO_INTERFACE, Window, default_field, shown

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter

FRAMES, PER_SECOND, FILM_DPI = 400, 12, 100
FASTEST = 60  # frames in a second, as screens show


def animate_run(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    out: str | Path | None = None,
    *,
    interface: bool = False,
    window: Window | None = None,
    look: Look = Look(),  # noqa: B008  a value
    fps: int = PER_SECOND,
) -> Path:
    """Draw every snapshot of a run on a plane as a film (.gif, or .mp4 with ffmpeg), and return the written file.

    All frames share one colour scale, and a moving grid moves in them. Without `field` the speed is drawn. `plane`,
    `out`, `interface` and `window` are as for `plot_run`. Above `FRAMES` snapshots only every n-th is drawn, at `fps`
    frames per second. Raises BadInput if a requested item does not exist.
    """
    if has_charts(Path(directory) / STORE):
        if interface:
            raise BadInput(NO_INTERFACE)
        return _of_charts(directory, field, plane, out, window, look, fps)
    if window is not None:
        raise BadInput(NO_WINDOW)
    ds = box_snapshots(directory)
    if interface:
        require_interface(ds)
    known = shown_fields(ds)
    chosen = _chosen(directory, ds.sizes["time"])
    if field is not None and field not in known:
        raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(known)}")
    name, cut = field or known[0], plane_of(ds, plane)
    frames = np.stack([fluid_on_plane(ds.isel(time=number), name, cut) for number in chosen]).astype("f4")
    look, bottom = replace(look, given=given_ranges(ds)), 0.0 if name == SPEED else None
    colours = look.colours(frames, words_of(ds, name), bottom=bottom, name=name)
    path, writer = _film(directory, name, out, fps)
    first = PixelPlane(ds.isel(time=chosen[0]), cut)
    figure, (axes,) = first.panels(look, dpi=FILM_DPI)
    axes.set_facecolor(str(BODY))
    image = first.image(axes, frames[0], colours)
    look.trim(figure)
    with writer.saving(figure, str(path), FILM_DPI):
        for number, values in zip(chosen, frames, strict=True):
            now = PixelPlane(ds.isel(time=number), cut)
            image.set_data(now.pixels(colours.shown(values)))
            axes.set_title(title(now.ds, cut), fontsize="medium", loc="left")
            line = now.interface(axes) if interface else None
            writer.grab_frame()
            if line is not None:
                line.remove()
    return path


def _chosen(directory: str | Path, count: int) -> range:
    """Return the numbers of the snapshots to draw. Raises BadInput if they do not exist."""
    if not count:
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    return range(0, count, ceil(count / FRAMES))


def _film(directory: str | Path, name: str, out: str | Path | None, fps: int) -> tuple[Path, AbstractMovieWriter]:
    """Return the file to write, and its writer. Raises BadInput if its format has no writer, or `fps` is out of range.
    """
    from matplotlib.animation import FFMpegWriter, PillowWriter  # loads modules that a single picture does not need

    if not 0 < fps <= FASTEST:
        raise BadInput(f"--fps {fps}: give an integer above 0, {FASTEST} at most")
    path = Path(directory if out is None else out)
    if not path.suffix or path.is_dir():
        path = path / f"{name}.gif"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gif":
        return path, PillowWriter(fps=fps)
    if path.suffix == ".mp4" and FFMpegWriter.isAvailable():
        return path, FFMpegWriter(fps=fps)
    missing = "there is no ffmpeg here; choose .gif" if path.suffix == ".mp4" else "choose .gif or .mp4"
    raise BadInput(f"out = {str(path)!r}: cannot make this film: {missing}")


def _of_charts(
    directory: str | Path, field: str | None, plane: str | None, out: str | Path | None, window: Window | None,
    look: Look, fps: int,
) -> Path:  # fmt: skip
    records = tree(Path(directory) / STORE)
    snapshots = [records.isel(time=number) for number in _chosen(directory, records.sizes["time"])]
    name, plane = field or default_field(snapshots[0]), plane or _cut(snapshots[0])
    look = replace(look, given=given_ranges(records))
    look = replace(look, range=look.range or _range(snapshots, name, look))
    if window is None and POSE[0] in records.data_vars:
        window = _around(snapshots, plane)
    path, writer = _film(directory, name, out, fps)
    frames = (
        _pixels(draw(plane_through(record, plane, window), [name], look, lines=False)) for record in snapshots
    )
    first = next(frames)
    figure = Figure(figsize=(first.shape[1] / DPI, first.shape[0] / DPI))
    FigureCanvasAgg(figure)
    image = figure.figimage(first)
    with writer.saving(figure, str(path), DPI):
        writer.grab_frame()
        for pixels in frames:
            image.set_data(_fitted(pixels, first.shape))
            writer.grab_frame()
    return path


def _range(snapshots: Sequence[xr.DataTree], name: str, look: Look) -> tuple[float, float]:
    """Return the colour range of all values in all snapshots."""
    ends = []
    for record in snapshots:
        for _, chart in charts(shown(record, name)):
            values = chart[name].values
            positive = values[values > 0]
            ends += [values.min(), values.max(), *([positive.min()] if positive.size else [])]
    norm = look.colours(np.array(ends), name, bottom=0.0 if name == SPEED else None, name=name).norm
    assert norm.vmin is not None
    assert norm.vmax is not None
    return norm.vmin, norm.vmax


def _cut(record: xr.DataTree) -> str | None:
    """Return the default plane of a film: the plane of its first snapshot, also if the grid rotates. None in two
    dimensions.
    """
    return None if flat_plane(record) else cut_plane(record, None).normal


def _around(snapshots: Sequence[xr.DataTree], plane: str | None) -> Window:
    """Return the window around the grid of all snapshots, along the axes of the picture."""
    cut, flat = cut_plane(snapshots[0], plane), flat_plane(snapshots[0]) if plane is None else None
    axes = flat or f"{cut.across}{cut.up}"
    ends = reach(vertices_of(chart) for record in snapshots for _, chart in charts(record))
    (left, bottom), (right, top) = ([end["xyz".index(axis)] for axis in axes] for end in ends)
    return left, right, bottom, top


def _pixels(figure: Figure) -> np.ndarray:
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]


def _fitted(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return pixels in a picture of this shape, because a longer title makes a picture wider."""
    fitted = np.full(shape, 255, pixels.dtype)
    tall, wide = (min(one, other) for one, other in zip(shape[:2], pixels.shape[:2], strict=True))
    fitted[:tall, :wide] = pixels[:tall, :wide]
    return fitted
