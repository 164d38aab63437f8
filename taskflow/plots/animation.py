"""A plane of all snapshots as a film, colours meaning the same all the time."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from taskflow.analysis.planes import fluid_on_plane, plane_of, shown_fields
from taskflow.errors import BadInput
from taskflow.output import STORE
from taskflow.output.reading import dataset, extent
from taskflow.plots.snapshots import SIDE, label, title

FRAMES, PER_SECOND, DPI = 400, 12, 100
BODY = "0.6"  # the grey of bodies


def animate_run(
    directory: str | Path, field: str | None = None, plane: str | None = None, out: str | Path | None = None
) -> Path:
    """Draw every snapshot of a run on a plane, as a film (.gif, or .mp4 with ffmpeg); the file written.

    Without `field`: the speed. `plane` and `out` are as for `plot_run`. Of many snapshots every n-th is drawn.
    Raises BadInput where something asked for is not there.
    """
    ds = dataset(Path(directory) / STORE)
    known = shown_fields(ds)
    if not ds.sizes["time"]:
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    if field is not None and field not in known:
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(known)}")
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
    axes.set_facecolor(BODY)
    centres = ds[f"{cut.across}_c"].values, ds[f"{cut.up}_c"].values
    bottom, top, colours = (-most, most, "RdBu_r") if signed else (low, high, "viridis")
    image = axes.pcolormesh(*centres, frames[0], shading="nearest", vmin=bottom, vmax=top, cmap=colours)
    axes.set_xlim(*domain[:2])
    axes.set_ylim(*domain[2:])
    figure.colorbar(image, label=label(ds["u"], "velocity magnitude") if name == "speed" else name)
    axes.set_xlabel(label(ds[f"{cut.across}_c"], cut.across))
    axes.set_ylabel(label(ds[f"{cut.up}_c"], cut.up))
    path, writer = _film(directory, name, out)
    with writer.saving(figure, str(path), DPI):
        for number, values in zip(chosen, frames, strict=True):
            image.set_array(values)
            axes.set_title(title(ds.isel(time=number), cut), fontsize="medium")
            writer.grab_frame()
    return path


def _film(directory: str | Path, name: str, out: str | Path | None) -> tuple[Path, AbstractMovieWriter]:
    """The file to write, and what writes it. Raises BadInput where nothing here can."""
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
