"""Display of an active run, on a terminal or as lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.common.text import visible
from taskflow.common.units import clock, rate
from taskflow.output import Tail
from taskflow.output.log import largest_residual, measured
from taskflow.terminal.exit_codes import deafen
from taskflow.terminal.format import tell

if TYPE_CHECKING:
    from rich.console import RenderableType

APART = 5.0  # least seconds of the run between two lines
WINDOW = 15.0  # seconds of the run for estimating speed and remaining time
PER_SECOND = 5  # updates of the display
WIDTH = 20  # columns of a number with its name, as many per line as fit
FORMATS = {
    "step": "step {}",
    "time": "time {:.6g}",
    "dt": "dt {:.3g}",
    "cfl": "CFL {:.3f}",
    "divergence": "divergence {:.2e}",
    "residual": "residual {:.2e}",
    "kinetic_energy": "energy {:.4g}",
    "inner": "inner {:.0f}",
}
ALWAYS = ("step", "time")

Status = Mapping[str, Any]  # status of a run: see `taskflow.runs.run.run`
View = AbstractContextManager[Callable[[Status], None]]  # shows a run from before its start to its end


@dataclass
class ProgressMeter:
    """Speed and remaining time of a run, estimated from its last seconds.

    In pseudo-time the time is not shown, because it is the number of the step, and the run may end before its last
    step.
    """

    cells: int
    clock: Clock
    pseudo_time: bool = False
    samples: deque[tuple[float, int, float]] = field(default_factory=deque)  # seconds, step, share of the run done

    def take(self, seconds: float, step: int, time: float) -> None:
        """Note that a step was reached, which may precede the last one after a restart from a checkpoint."""
        if self.samples and step < self.samples[-1][1]:
            self.samples.clear()
        if self.samples and step == self.samples[-1][1]:
            return
        self.samples.append((seconds, step, self.clock.progress(Tick(step, time))))
        while len(self.samples) > 2 and self.samples[1][0] < seconds - WINDOW:
            self.samples.popleft()

    @property
    def share(self) -> float:
        """Completed fraction of the run, 0 to 1."""
        return self.samples[-1][2] if self.samples else 0.0

    @property
    def speed(self) -> str:
        """Cells per second."""
        seconds, steps, _ = self._latest()
        return rate(self.cells * steps / seconds) if steps and seconds > 0 else ""

    @property
    def left(self) -> str:
        """Remaining time."""
        seconds, _, share = self._latest()
        if not (share > 0 and seconds > 0):
            return ""
        return f"{'at most ' * self.pseudo_time}{clock((1 - self.share) * seconds / share)} left"

    def facts(self, numbers: Status, *, goals: bool = False) -> list[str]:
        """Return step, time and the other numbers of a line of the log as text. None stands for numbers that are not
        finite.

        Of several residuals the largest is shown. With `goals` the final step and time are included.
        """
        numbers = measured({**numbers, **largest_residual(numbers)})
        ends = {"step": self.clock.steps, "time": self.clock.end} if goals else {}
        words = []
        for name, form in FORMATS.items():
            if (name in numbers or name in ALWAYS) and not (name == "time" and self.pseudo_time):
                value, end = numbers.get(name), ends.get(name)
                words.append(form.format(math.nan if value is None else value) + (f" of {end:g}" if end else ""))
        return words

    def _latest(self) -> tuple[float, int, float]:
        if len(self.samples) < 2:
            return 0.0, 0, 0.0
        (a, i, p), (b, j, q) = self.samples[0], self.samples[-1]
        return b - a, j - i, q - p


class LogLines:
    """Lines of the log some seconds apart, including the first and last, for files and pipes.

    If the reader exits, the run continues.
    """

    def __init__(self, heading: str, meter: ProgressMeter, log: Path) -> None:
        self.heading, self.meter, self.log = heading, meter, log
        self._waiting = ""  # what the run waits for
        self._current = False  # whether the log is this run's, not an older one's
        self._restarts = 0  # automatic ones of the run
        self._left = ""  # the last line that was not printed
        self._read_anew()

    def _read_anew(self) -> None:
        self._tail, self._seen = Tail(self.log), 0
        self._after: int | None = None  # step of the restart; lines up to it are older
        self._due = -math.inf  # when the next line is printed, by the clock of the log

    def __enter__(self) -> LogLines:
        return self

    def __call__(self, status: Status) -> None:
        if not self._current:
            self._print(self.heading)
        self._current = True
        if (waiting := status.get("waiting", self._waiting)) != self._waiting:
            self._waiting = waiting
            self._print(waiting)
        if (restarts := status.get("restarts", self._restarts)) != self._restarts:  # the log was cut
            self._restarts = restarts
            self._read_anew()
        if "step" in status:
            self._after = status.get("resumed", -1)
        if self._after is None:
            return
        for numbers in self._new():
            if numbers["step"] > self._after:
                self.meter.take(numbers["wall"], numbers["step"], numbers["time"])
                self._left = "  ".join(filter(None, (*self.meter.facts(numbers), self.meter.speed, self.meter.left)))
                if numbers["wall"] >= self._due:
                    self._due = numbers["wall"] + APART
                    self._print_left()

    def __exit__(self, *_: object) -> None:
        if self._current:
            self._after = -1 if self._after is None else self._after
            self({})
            self._print_left()

    def _new(self) -> Iterator[Status]:
        """Yield new complete lines of the log."""
        try:
            lines = self._tail.look()
        except OSError:  # not visible from this machine
            return
        begin, self._seen = self._seen, len(lines)
        yield from lines[begin:]

    def _print_left(self) -> None:
        if self._left:
            self._print(self._left)
        self._left = ""

    def _print(self, line: str) -> None:
        try:
            tell(line)
        except OSError:
            deafen()


class Display:
    """Progress bar, current activity and numbers of a run. It vanishes when the run has ended."""

    def __init__(self, heading: str, meter: ProgressMeter) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        self.heading, self.meter = visible(heading), meter
        self._live, self._spinner = Live(transient=True, refresh_per_second=PER_SECOND), Spinner("dots")

    def __enter__(self) -> Display:
        self._live.start()
        self({"stage": "starting"})
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, status: Status) -> None:
        if "step" in status:
            self.meter.take(status["seconds"], status["step"], status["time"])
        self._live.update(self._drawn(status))

    def _drawn(self, status: Status) -> RenderableType:
        from rich.columns import Columns
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        self._spinner.update(text=Text(visible(stage(status))))
        if "step" not in status:
            return Group(Text(self.heading), self._spinner)
        bar = Table.grid(expand=True, padding=(0, 1))
        bar.add_column(ratio=1)
        bar.add_column(justify="right", width=5)
        bar.add_row(ProgressBar(total=1.0, completed=self.meter.share), f"{100 * self.meter.share:.0f} %")
        texts = [*self.meter.facts(status, goals=True), self.meter.speed, self.meter.left]
        return Group(Text(self.heading), bar, Columns([Text(text) for text in texts], width=WIDTH), self._spinner)


def stage(status: Status) -> str:
    """Return the current stage of a run as text."""
    for key in ("waiting", "stage"):
        if key in status:
            return str(status[key])
    if "step" not in status:
        return "compiling kernels (once), preparing the fields"
    if "ended" in status:
        return "writing the results"
    if status.get("stopping"):
        return "stopping after this step; Ctrl-C again stops immediately"
    return "computing; Ctrl-C ends the run with its state written"


def view(heading: str, meter: ProgressMeter, log: Path) -> View:
    """Return a display if standard output is a terminal that can redraw lines, else lines of the log."""
    return Display(heading, meter) if _redraws() else LogLines(heading, meter, log)


def _redraws() -> bool:
    if not sys.stdout.isatty():  # rich takes time to load
        return False
    from rich.console import Console

    return not Console().is_dumb_terminal
