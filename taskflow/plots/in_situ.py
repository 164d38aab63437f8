"""`python -m taskflow.plots.in_situ DIR`: draws the pictures of a run beside it, whenever their parts are there, until
standard input ends and nothing is left. It takes what processors have to spare.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import numpy as np
import xarray as xr

from taskflow.analysis.planes import SPEED, CutPlane
from taskflow.output import STORE
from taskflow.output.metadata import SOLID
from taskflow.output.pictures import PICTURES, Drawable, PictureOrder, drawable, listed
from taskflow.output.reading import dataset
from taskflow.plots import DPI
from taskflow.plots.look import Look
from taskflow.plots.snapshots import draw_image, panels_of, solid_on

EVERY = 0.2  # seconds between two looks


def draw_slice(order: PictureOrder, grid: xr.Dataset, fields: dict[str, np.ndarray], path: Path) -> None:
    """Draw the layer of a field into a file."""
    assert order.axis is not None, "a slice is across an axis"
    axis = "xyz"[order.axis]
    plane = CutPlane(axis, float(grid[f"{axis}_c"].values[order.layer]))
    (role, words), look = next(iter(order.fields.items())), _look(order)
    values = fields[role].squeeze(2 - order.axis).astype("f8")
    known = np.where(solid_on(grid, plane), np.nan, values)
    figure, (axes,) = panels_of(grid, plane, look)
    bottom = {SPEED: 0.0, "T": _least(known)}.get(role)  # the zero of a temperature has no meaning
    colours = look.drawable(known).colours(known, words, "RdYlBu_r" if role == "T" else "viridis", bottom)
    draw_image(axes, grid, plane, values, colours)
    look.trim(figure)
    figure.savefig(path, dpi=DPI)


def _least(values: np.ndarray) -> float:
    return float(np.nanmin(values)) if np.isfinite(values).any() else 0.0


def _look(order: PictureOrder) -> Look:
    return Look(order.range, order.log, order.cmap, order.size)


class Pictures:
    """The pictures of a run directory."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.orders = directory, {order.name: order for order in listed(directory)}
        grid = dataset(directory / STORE).drop_dims("time")  # bodies that move are not drawn
        self.grid = grid.drop_vars([name for name in grid.data_vars if name != SOLID]).load()
        self.problems = set[str]()  # pictures that cannot be drawn

    def draw(self) -> int:
        """Draw what is there; how many pictures that are."""
        ready = drawable(self.directory, list(self.orders.values()))
        for state in ready:
            if state.name not in self.problems:
                self._draw(state)
            state.drop()
        return len(ready)

    def _draw(self, state: Drawable) -> None:
        order = self.orders[state.name]
        path = self.directory / PICTURES / f"{state.name}_{state.step:08}.png"
        draft = path.with_suffix(".draft.png")
        time, fields = state.fields(order)
        try:
            if order.axis is None:
                from taskflow.plots.surfaces import draw_surface

                draw_surface(order, self._at(time), fields, _look(order), draft)
            else:
                draw_slice(order, self._at(time), fields, draft)
            draft.replace(path)
        except Exception as error:
            words = next(filter(None, str(error).splitlines()), "")
            print(f"{state.name}: {type(error).__name__}: {words}", file=sys.stderr, flush=True)
            self.problems.add(state.name)

    def _at(self, time: float) -> xr.Dataset:
        return self.grid.assign_coords(time=time)


def _schedule(policy: str) -> None:
    """Have processors by a policy, as far as the system has it and lets us."""
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, getattr(os, policy), os.sched_param(0))


def main(directory: Path) -> int:
    """Draw until standard input ends and nothing is left; return whether something could not be drawn."""
    _schedule("SCHED_IDLE")
    ended = Event()

    def listen() -> None:
        sys.stdin.read()
        ended.set()

    Thread(target=listen, daemon=True).start()
    pictures = Pictures(directory)
    while True:
        if last := ended.is_set():
            _schedule("SCHED_OTHER")  # now the run waits
        if not pictures.draw():
            if last:
                return int(bool(pictures.problems))
            ended.wait(EVERY)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
