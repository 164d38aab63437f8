"""The live display of a run on a terminal: a bar, and what a user wants to see at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from taskflow.cli.watching import Meter, View, facts
from taskflow.text import visible

PER_SECOND = 5  # times that it is drawn
WIDTH = 20  # columns of a number with its name; as many beside each other as the terminal holds


class Display(View):
    """A bar, what the run is doing, its numbers. It vanishes when the run has ended."""

    def __init__(self, heading: str, meter: Meter) -> None:
        self.heading, self.meter = Text(visible(heading)), meter
        self._live = Live(transient=True, refresh_per_second=PER_SECOND)
        self._spinner = Spinner("dots", text="starting")

    def __enter__(self) -> Display:
        self._live.start()
        self._live.update(Group(self.heading, self._spinner))
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, told: Mapping[str, Any]) -> None:
        if "step" in told:
            self.meter.take(told["seconds"], told["step"], told["time"])
        self._live.update(self._drawn(told))

    def _drawn(self, told: Mapping[str, Any]) -> RenderableType:
        self._spinner.update(text=Text(visible(stage(told))))
        if "step" not in told:
            return Group(self.heading, self._spinner)
        bar = Table.grid(expand=True, padding=(0, 1))
        bar.add_column(ratio=1)
        bar.add_column(justify="right", width=5)
        bar.add_row(ProgressBar(total=1.0, completed=self.meter.share), f"{100 * self.meter.share:.0f} %")
        step, time, *others = facts(told)
        clock = self.meter.clock
        of_steps = f" of {clock.steps}" if clock.steps is not None else ""
        of_end = f" of {clock.end:g}" if clock.end is not None else ""
        texts = [f"{step}{of_steps}", f"{time}{of_end}", *others, self.meter.speed, self.meter.left]
        numbers = Columns([Text(text) for text in texts], width=WIDTH)
        return Group(self.heading, bar, numbers, self._spinner)


def stage(told: Mapping[str, Any]) -> str:
    """What a run is doing, in words."""
    for key in ("waiting", "stage"):
        if key in told:
            return str(told[key])
    if "step" not in told:
        return "compiling kernels (once), preparing the fields"
    if "ended" in told:
        return "writing, measuring the copy bandwidth"
    if told.get("stopping"):
        return "stopping after this step; Ctrl-C again stops at once"
    return "computing; Ctrl-C ends the run with its state written"
