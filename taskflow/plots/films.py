"""Films of snapshots on a plane."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taskflow.analysis.planes import SPEED, fluid_on_plane, plane_of, shown_fields
from taskflow.errors import BadInput
from taskflow.output import STORE
from taskflow.output.reading import dataset, of_a_box
from taskflow.plots import snapshots as pictures
from taskflow.plots.look import Look

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter

FRAMES, PER_SECOND, DPI = 400, 12, 100
FASTEST = 60  # frames in a second, as screens show


def animate_run(
    directory: str | Path,
    field: str | None = None,
    plane: str | None = None,
    out: str | Path | None = None,
    *,
    interface: bool = False,
    look: Look = Look(),  # noqa: B008  a value
    fps: int = PER_SECOND,
) -> Path:
    """Draw every snapshot of a run on a plane as a film (.gif, or .mp4 with ffmpeg), with one scale of colours; return
    the file written.

    Without `field`: the speed. `plane`, `out` and `interface` are as for `plot_run`. Of many snapshots every n-th is
    drawn, `fps` of them in a second. Raises BadInput where something asked for is not there.
    """
    ds = dataset(Path(directory) / STORE)
    of_a_box(ds, directory)
    known = shown_fields(ds)
    if not ds.sizes["time"]:
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    if field is not None and field not in known:
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(known)}")
    if interface:
        pictures.has_interface(known)
    name, cut = field or known[0], plane_of(ds, plane)
    chosen = range(0, ds.sizes["time"], ceil(ds.sizes["time"] / FRAMES))
    frames = np.stack([fluid_on_plane(ds.isel(time=number), name, cut) for number in chosen]).astype("f4")
    colours = look.colours(frames, pictures.words_of(ds, name), bottom=0.0 if name == SPEED else None)
    path, writer = film_of(directory, name, out, speed_of(fps))
    figure, (axes,) = pictures.panels_of(ds.isel(time=chosen[0]), cut, look, dpi=DPI)
    axes.set_facecolor(str(pictures.BODY))
    image = pictures.draw_image(axes, ds, cut, frames[0], colours)
    look.trim(figure)
    with writer.saving(figure, str(path), DPI):
        for number, values in zip(chosen, frames, strict=True):
            image.set_data(pictures.image_of(ds, cut, colours.shown(values)))
            axes.set_title(pictures.title(ds.isel(time=number), cut), fontsize="medium", loc="left")
            line = pictures.draw_interface(axes, ds.isel(time=number), cut) if interface else None
            writer.grab_frame()
            if line is not None:
                line.remove()
    return path


def speed_of(fps: int) -> int:
    """Return the frames in a second. Raises BadInput where they cannot be so many."""
    if not 0 < fps <= FASTEST:
        raise BadInput(f"--fps {fps}: give a whole number above 0, {FASTEST} at most")
    return fps


def film_of(directory: str | Path, name: str, out: str | Path | None, fps: int) -> tuple[Path, AbstractMovieWriter]:
    """Return the file to write, and its writer. Raises BadInput where no writer is there for its format."""
    from matplotlib.animation import FFMpegWriter, PillowWriter  # loads what a single picture does not need

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
