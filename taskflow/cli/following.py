"""`taskflow watch`: a run that goes on somewhere else, seen through what it writes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cli.running import target
from taskflow.cli.telling import Record, describe, over, state
from taskflow.cli.watching import Lines, Meter, View, on_terminal
from taskflow.cli.words import say, times
from taskflow.flow.stability import StepLimit
from taskflow.output import LOG
from taskflow.simulation.schedule import Clock

if TYPE_CHECKING:
    from taskflow.output import Tail

EVERY = 1.0  # seconds between two looks
FIRST = 10  # lines of the log that are printed at first


class Followed:
    """A run directory that is looked at again and again: what it says now, and how fast the run is.

    Raises BadInput, as `look` does, where the directory is not one of a run.
    """

    def __init__(self, directory: Path) -> None:
        from taskflow.output import Tail

        self.directory = directory
        self._tail: Tail = Tail(directory / LOG)
        self.record = Record.read(directory, self._tail)
        self.meter = self._meter()
        self._measured = 0  # lines of the log
        self.look()

    def look(self) -> None:
        """Look again."""
        self.record = Record.read(self.directory, self._tail)
        log = self.record.log
        if len(log) < self._measured:  # the run went on from a checkpoint
            self.meter, self._measured = self._meter(), 0
        for line in log[self._measured :]:
            self.meter.take(line["wall"], line["step"], line["time"])
        self._measured = len(log)

    @property
    def last(self) -> Mapping[str, Any]:
        """The last line of the log."""
        return self.record.log[-1] if self.record.log else {}

    @property
    def heading(self) -> str:
        """What is computed, and how far."""
        case = self.record.case
        return f"{case.get('title', '')}: {times(case['grid']['cells'])} cells, to {self.goal}"

    @property
    def goal(self) -> str:
        """Where the run stops."""
        return target(self.meter.clock.end, self.meter.clock.steps)

    def _meter(self) -> Meter:
        nx, ny, nz = self.record.case["grid"]["cells"]
        until = self.record.case["time"]
        return Meter(nx * ny * nz, Clock(StepLimit(), end=until.get("end"), steps=until.get("steps")))


def follow(directory: Path) -> None:
    """Show a run until it has ended, and then what became of it. Raises BadInput where there is none."""
    followed = Followed(directory)
    older = followed.record.log[:-FIRST]
    begin = older[-1]["step"] if older else -1
    with _view(followed) as show:
        while True:
            restarts = followed.record.report.get("restarts", ())
            told = {"stage": state(followed.record), "restarts": len(restarts)}
            if last := followed.last:
                told |= {
                    **last,
                    "seconds": last["wall"],
                    "resumed": max([begin, *(each["step"] for each in restarts[-1:])]),
                }
            show(told)
            if over(followed.record):
                break
            time.sleep(EVERY)
            followed.look()
    say(f"{directory}: {followed.record.case.get('title', '')}", describe(followed.record))


def _view(followed: Followed) -> View:
    if not on_terminal():
        return Lines(followed.heading, followed.meter, followed.directory / LOG)
    from taskflow.cli.live import Display

    return Display(followed.heading, followed.meter)
