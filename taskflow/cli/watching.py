"""What a run shows while it goes on: a live display on a terminal, lines elsewhere, nothing when quiet."""

from __future__ import annotations

import json
import math
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taskflow.cli.ending import deafen
from taskflow.cli.words import clock, rate, tell
from taskflow.simulation.schedule import Clock, Tick

APART = 5.0  # seconds of the run between two lines where they pile up
WINDOW = 15.0  # seconds of the run over which speed and time left are judged


class View(AbstractContextManager["View"]):
    """Shows a run from before it begins until it has ended. This one shows nothing."""

    def __call__(self, told: Mapping[str, Any]) -> None:
        """What the run tells now: see `taskflow.simulation.run.run`."""

    def __exit__(self, *_: object) -> None:
        """The run has ended, somehow."""


@dataclass
class Meter:
    """How fast a run of so many cells is, and how long it will still take, judged by its last seconds."""

    cells: int
    clock: Clock
    samples: deque[tuple[float, int, float]] = field(default_factory=deque)  # seconds, step, share of the run done

    def take(self, seconds: float, step: int, time: float) -> None:
        """Note that a step was reached; an earlier one than before where a run goes on from a checkpoint."""
        if self.samples and step < self.samples[-1][1]:
            self.samples.clear()
        if self.samples and step == self.samples[-1][1]:
            return
        self.samples.append((seconds, step, self.clock.progress(Tick(step, time))))
        while len(self.samples) > 2 and self.samples[1][0] < seconds - WINDOW:
            self.samples.popleft()

    @property
    def share(self) -> float:
        """How much of the run is done, 0 to 1."""
        return self.samples[-1][2] if self.samples else 0.0

    @property
    def speed(self) -> str:
        """Cells per second."""
        seconds, steps, _ = self._latest()
        return rate(self.cells * steps / seconds) if steps and seconds > 0 else ""

    @property
    def left(self) -> str:
        """Time left."""
        seconds, _, share = self._latest()
        return f"{clock((1 - self.share) * seconds / share)} left" if share > 0 and seconds > 0 else ""

    def _latest(self) -> tuple[float, int, float]:
        if len(self.samples) < 2:
            return 0.0, 0, 0.0
        (a, i, p), (b, j, q) = self.samples[0], self.samples[-1]
        return b - a, j - i, q - p


class Lines(View):
    """Lines of the log some seconds apart, the first and the last among them, for files and pipes. When nobody reads
    them any more the run goes on.
    """

    def __init__(self, heading: str, meter: Meter, log: Path) -> None:
        self.heading, self.meter, self.log = heading, meter, log
        self._waiting = ""  # for what
        self._read = 0  # bytes of the log
        self._begun = False  # whether the log is this run's, not an older one's
        self._restarts = 0  # of the run, by itself
        self._after: int | None = None  # the step with which the run goes on; lines up to there are older
        self._due = -math.inf  # when the next line is printed, by the clock of the log
        self._left = ""  # the last line that was not

    def __call__(self, told: Mapping[str, Any]) -> None:
        if not self._begun:
            self._print(self.heading)
        self._begun = True
        if told.get("waiting", self._waiting) != self._waiting:
            self._waiting = told["waiting"]
            self._print(self._waiting)
        restarts = told.get("restarts", self._restarts)
        if restarts != self._restarts:  # the log was cut
            self._restarts, self._read, self._after, self._due = restarts, 0, None, -math.inf
        if "step" in told:
            self._after = told.get("resumed", -1)
        if self._after is None:
            return
        for numbers in self._new():
            if numbers["step"] <= self._after:
                continue
            self.meter.take(numbers["wall"], numbers["step"], numbers["time"])
            self._left = "  ".join(filter(None, (*facts(numbers), self.meter.speed, self.meter.left)))
            if numbers["wall"] >= self._due:
                self._due = numbers["wall"] + APART
                self._print_left()

    def __exit__(self, *_: object) -> None:
        if self._begun:
            self._after = -1 if self._after is None else self._after
            self({})
            self._print_left()

    def _new(self) -> Iterator[dict[str, Any]]:
        """Complete lines of the log that have not been seen."""
        try:
            with self.log.open("rb") as file:
                file.seek(self._read)
                text = file.read()
        except OSError:  # on a machine that does not see it: nothing to show
            return
        for line in text[: text.rfind(b"\n") + 1].splitlines():
            self._read += len(line) + 1
            yield json.loads(line)

    def _print_left(self) -> None:
        if self._left:
            self._print(self._left)
        self._left = ""

    def _print(self, line: str) -> None:
        try:
            tell(line)
        except OSError:
            deafen()


def facts(numbers: Mapping[str, Any]) -> list[str]:
    """Step, time and the numbers of a line of the log; those that are not finite are null there."""
    shown = {name: "nan" if numbers.get(name) is None else f"{numbers[name]:{spec}}" for name, spec in SPECS.items()}
    return [f"{WORDS.get(name, name)} {text}" for name, text in shown.items()]


SPECS = {
    "step": "",
    "time": ".6g",
    "dt": ".3g",
    "cfl": ".3f",
    "divergence": ".2e",
    "residual": ".2e",
    "kinetic_energy": ".4g",
}
WORDS = {"cfl": "CFL", "kinetic_energy": "energy"}


def on_terminal() -> bool:
    """Whether standard output is a terminal that can redraw lines."""
    from rich.console import Console

    return sys.stdout.isatty() and not Console().is_dumb_terminal
