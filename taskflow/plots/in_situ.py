"""Draws the pictures of a run during the run, in a separate process (`taskflow.runs.drawing`).

A picture is drawn when its parts exist, until standard input ends and no parts remain. It uses idle processors only.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import numpy as np

from taskflow.analysis.planes import CutPlane
from taskflow.analysis.shown import continued
from taskflow.common.derived_names import SPEED
from taskflow.common.errors import BadInput
from taskflow.output import STORE, has_charts
from taskflow.output.export.picture_files import PICTURES, Boxes, Drawable, Numbers, PictureOrder, drawable, listed
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import dataset
from taskflow.plots import DPI
from taskflow.plots.look import Look
from taskflow.plots.pixels import PixelPlane, colours_of
from taskflow.plots.snapshots import Bodies, stairs

if TYPE_CHECKING:
    from taskflow.plots.chart_pictures import ChartDrawing

EVERY = 0.2  # seconds between checks


class BoxDrawing:
    """Drawing of states of a run on a Cartesian grid, given the path of its store."""

    def __init__(self, store: Path, bodies: Bodies) -> None:
        grid = dataset(store).drop_dims("time")  # moving bodies are not drawn
        self._grid = grid.drop_vars([name for name in grid.data_vars if name != SOLID]).load()
        self._inside = bodies(grid.attrs)

    def draw(self, order: PictureOrder, about: Numbers, fields: Boxes, look: Look, path: Path) -> None:
        """Draw a state into a file, given fields by role, and its numbers."""
        grid, whole = self._grid.assign_coords(time=about["time"]), {role: boxes[0] for role, boxes in fields.items()}
        if order.axis is None:
            from taskflow.plots.surfaces import draw_scene, scene_of_box

            return draw_scene(order, scene_of_box(order, grid, whole), look, path)
        axis, layer = "xyz"[order.axis], order.boxes[0][0][2 - order.axis]
        plane = PixelPlane(grid, CutPlane(axis, float(grid[f"{axis}_c"].values[layer])), self._inside)
        role, words = next(iter(order.fields.items()))
        values = whole[role].squeeze(2 - order.axis).astype("f8")
        known = np.where(plane.solid, np.nan, values)
        figure, axes = plane.panel(look)
        shown = values if order.fields.keys() & {SPEED, "u", "v", "w"} else continued(known)
        plane.image(axes, shown, colours_of(role, known, words, look.drawable(known)))
        look.trim(figure)
        return figure.savefig(path, dpi=DPI)


def _drawing(store: Path, bodies: Bodies) -> BoxDrawing | ChartDrawing:
    if not has_charts(store):
        return BoxDrawing(store, bodies)
    from taskflow.plots.chart_pictures import ChartDrawing

    return ChartDrawing(store)


class Pictures:
    """Pictures of a run directory."""

    def __init__(self, directory: Path, bodies: Bodies = stairs) -> None:
        self.directory, self.orders = directory, {order.name: order for order in listed(directory)}
        self._drawing = _drawing(directory / STORE, bodies)
        self.problems = set[str]()  # pictures of which something cannot be drawn
        self._lost = set[str]()  # pictures that are no longer drawn

    def draw(self) -> int:
        """Draw all complete pictures, and return their number."""
        ready = drawable(self.directory, list(self.orders.values()))
        for state in ready:
            if state.name not in self._lost:
                self._draw(state)
            state.drop()
        return len(ready)

    def _draw(self, state: Drawable) -> None:
        order = self.orders[state.name]
        path = self.directory / PICTURES / f"{state.name}_{state.step:08}.png"
        draft = path.with_suffix(".draft.png")
        about, fields = state.fields(order)
        try:
            self._drawing.draw(order, about, fields, Look(order.range, order.log, order.cmap, order.size), draft)
            draft.replace(path)
        except BadInput as error:  # for this state: a moving grid may return to a plane
            if state.name not in self.problems:
                self._tell(state, str(error))
        except Exception as error:
            self._tell(state, f"{type(error).__name__}: {error}")
            self._lost.add(state.name)

    def _tell(self, state: Drawable, words: str) -> None:
        line = next(filter(None, words.splitlines()), "")
        print(f"{state.name}, step {state.step}: {line}", file=sys.stderr, flush=True)
        self.problems.add(state.name)


def _schedule(policy: str) -> None:
    """Set the scheduling policy of this process, if supported and permitted."""
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, getattr(os, policy), os.sched_param(0))


def main(directory: Path, bodies: Bodies) -> int:
    """Draw until standard input ends and no parts remain, and return 1 if a picture could not be drawn."""
    _schedule("SCHED_IDLE")
    ended = Event()

    def listen() -> None:
        sys.stdin.read()
        ended.set()

    Thread(target=listen, daemon=True).start()
    pictures = Pictures(directory, bodies)
    while True:
        if last := ended.is_set():
            _schedule("SCHED_OTHER")  # now the run waits
        if not pictures.draw():
            if last:
                return int(bool(pictures.problems))
            ended.wait(EVERY)
