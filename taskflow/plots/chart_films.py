"""Films of snapshots on charts: each as `taskflow plot` draws it without streamlines, with one scale of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from taskflow.analysis.charts.cut import cut_plane
from taskflow.analysis.charts.flat import flat_mesh
from taskflow.analysis.charts.metrics import vertices_of
from taskflow.errors import BadInput
from taskflow.output import STORE
from taskflow.output.charts.reading import charts, tree
from taskflow.output.moving import POSE
from taskflow.plots import DPI
from taskflow.plots.contours import SPEED, Window, default_field, draw_charts, shown
from taskflow.plots.films import FRAMES, PER_SECOND, film_of, speed_of
from taskflow.plots.look import Look


def animate_charts(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    out: str | Path | None = None,
    *,
    window: Window | None = None,
    look: Look = Look(),  # noqa: B008  a value
    fps: int = PER_SECOND,
) -> Path:
    """Draw every snapshot of a run on charts as a film (.gif, or .mp4 with ffmpeg); return the file written. A grid
    that moves does so in it. Arguments are those of `plot_charts` and `animate_run`. Raises BadInput where something
    asked for is not there.
    """
    records = tree(Path(directory) / STORE)
    if not records.sizes["time"]:
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    count = records.sizes["time"]
    snapshots = [records.isel(time=number) for number in range(0, count, ceil(count / FRAMES))]
    name = field or default_field(snapshots[0])
    look = replace(look, range=look.range or _range(snapshots, name, look))
    if window is None and POSE[0] in records.data_vars:
        window = _around(snapshots, plane)
    path, writer = film_of(directory, name, out, speed_of(fps))
    frames = (_pixels(draw_charts(record, name, plane, window, look, lines=False)) for record in snapshots)
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
    """The range of the colours in which all values of all snapshots are."""
    ends = []
    for record in snapshots:
        for _, chart in charts(shown(record, name)):
            values = chart[name].values
            positive = values[values > 0]
            ends += [values.min(), values.max(), *([positive.min()] if positive.size else [])]
    norm = look.colours(np.array(ends), name, bottom=0.0 if name == SPEED else None).norm
    assert norm.vmin is not None
    assert norm.vmax is not None
    return norm.vmin, norm.vmax


def _around(snapshots: Sequence[xr.DataTree], plane: str | None) -> Window:
    """The window around the grid of all snapshots, along the axes of the picture."""
    flat, ends = flat_mesh(snapshots[0]) if plane is None else None, []
    cut = cut_plane(snapshots[0], plane)
    axes = flat.plane if flat else f"{cut.across}{cut.up}"
    for record in snapshots:
        for _, chart in charts(record):
            x = vertices_of(chart)[["xyz".index(axis) for axis in axes]].reshape(2, -1)
            ends.append([x.min(axis=1), x.max(axis=1)])
    (left, bottom), (right, top) = np.min(ends, axis=(0, 1)), np.max(ends, axis=(0, 1))
    return float(left), float(right), float(bottom), float(top)


def _pixels(figure: Figure) -> np.ndarray:
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]


def _fitted(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels in a picture of this shape: a longer title makes a picture wider."""
    fitted = np.full(shape, 255, pixels.dtype)
    tall, wide = (min(one, other) for one, other in zip(shape[:2], pixels.shape[:2], strict=True))
    fitted[:tall, :wide] = pixels[:tall, :wide]
    return fitted
