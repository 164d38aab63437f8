"""Films of snapshots on a plane, drawn as `taskflow plot` draws them, with one colour scale."""

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
from taskflow.common.derived_names import SHARP
from taskflow.common.errors import BadInput
from taskflow.common.point_location import reach
from taskflow.output import STORE, has_charts
from taskflow.output.store.reading import box_snapshots, charts, tree
from taskflow.output.store.rigid_motion import POSE
from taskflow.plots import DPI
from taskflow.plots.look import MOST, Look
from taskflow.plots.pixels import colours_of
from taskflow.plots.snapshots import Bodies, draw, given_ranges, plane_through, stairs
from taskflow.plots.triangles import Window

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter

FRAMES, PER_SECOND = 400, 12
FASTEST = 60  # frames in a second, as screens show
WIDE = 1080  # points of a frame across


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
    bodies: Bodies = stairs,
) -> Path:
    """Draw every snapshot of a run on a plane as a film (.gif, or .mp4 with ffmpeg), and return the written file.

    All frames share one colour scale, and a moving grid moves in them. The arguments are as for `plot_run`. Above
    `FRAMES` snapshots only every n-th is drawn, at `fps` frames per second. Raises BadInput if a requested item does
    not exist.
    """
    whole: Any = tree(Path(directory) / STORE) if has_charts(Path(directory) / STORE) else box_snapshots(directory)
    snapshots = [whole.isel(time=number) for number in _chosen(directory, whole.sizes["time"])]
    if isinstance(whole, xr.DataTree):
        plane = plane or _cut(snapshots[0])
        window = _around(snapshots, plane) if window is None and POSE[0] in whole.data_vars else window
    inside = bodies(whole.attrs)
    parts = (plane_through(record, plane, window, inside) for record in snapshots)
    first = next(parts)
    name, look = first.chosen(field), replace(look, given=given_ranges(whole))
    path, writer = _film(directory, name, out, fps)
    ends = np.concatenate([_ends(plane_through(record, plane, window).values(name), name) for record in snapshots])
    norm = colours_of(name, ends, name, look).norm
    assert norm.vmin is not None
    assert norm.vmax is not None
    filled = name == "f" and look.plain
    look = look if filled else replace(look, range=look.range or (norm.vmin, norm.vmax))
    beginning = draw(first, name, look, interface=interface)
    dpi = DPI if look.size else WIDE / beginning.get_figwidth()
    pixels = _pixels(beginning, dpi)
    height, width = (length - length % 2 for length in pixels.shape[:2])  # even, for films
    figure = Figure(figsize=(width / DPI, height / DPI))
    FigureCanvasAgg(figure)
    image = figure.figimage(_fitted(pixels, (height, width, 3)))
    with writer.saving(figure, str(path), DPI):
        writer.grab_frame()
        for part in parts:
            image.set_data(_fitted(_pixels(draw(part, name, look, interface=interface), dpi), (height, width, 3)))
            writer.grab_frame()
    return path


def _chosen(directory: str | Path, count: int) -> range:
    """Return the numbers of the snapshots to draw. Raises BadInput if they do not exist."""
    if not count:
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    return range(0, count, ceil(count / FRAMES))


def _film(directory: str | Path, name: str, out: str | Path | None, fps: int) -> tuple[Path, AbstractMovieWriter]:
    """Return the file to write, and its writer. Raises BadInput if the format has none, or `fps` is out of range."""
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


def _ends(values: np.ndarray, name: str) -> np.ndarray:
    """Return the ends of the values, and the smallest positive one. Empty without finite values."""
    known = values[np.isfinite(values)]
    if name in SHARP and known.size:
        return np.quantile(known, (1 - MOST, MOST))
    positive = known[known > 0]
    return np.array([*([known.min(), known.max()] if known.size else []), *([positive.min()] if positive.size else [])])


def _cut(record: xr.DataTree) -> str | None:
    """Return the plane of a film's first snapshot, also if the grid rotates; None in two dimensions."""
    return None if flat_plane(record) else cut_plane(record, None).normal


def _around(snapshots: Sequence[xr.DataTree], plane: str | None) -> Window:
    """Return the window around the grid of all snapshots, along the axes of the picture."""
    cut, flat = cut_plane(snapshots[0], plane), flat_plane(snapshots[0]) if plane is None else None
    axes = flat or f"{cut.across}{cut.up}"
    ends = reach(vertices_of(chart) for record in snapshots for _, chart in charts(record))
    (left, bottom), (right, top) = ([end["xyz".index(axis)] for axis in axes] for end in ends)
    return left, right, bottom, top


def _pixels(figure: Figure, dpi: float) -> np.ndarray:
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(dpi)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]


def _fitted(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return pixels in a picture of this shape, because a longer title makes a picture wider."""
    fitted = np.full(shape, 255, pixels.dtype)
    tall, wide = (min(one, other) for one, other in zip(shape[:2], pixels.shape[:2], strict=True))
    fitted[:tall, :wide] = pixels[:tall, :wide]
    return fitted
