"""`taskflow watch`: shows a run from its files only, so that it may be on another machine."""

from __future__ import annotations

import time
from pathlib import Path

from taskflow.cases.timing.schedule import Clock
from taskflow.cli.watch import ProgressMeter, Status, view
from taskflow.common.caching import cached_property
from taskflow.flow.stability import StepLimit
from taskflow.output import LOG
from taskflow.output.store.metadata import PSEUDO_TIME
from taskflow.runs.directory.record import Record, target
from taskflow.terminal.format import say

EVERY = 1.0  # seconds between reads of a run directory
FIRST = 10  # lines of the log printed at the start


class Followed(Record):
    """Run directory that is read repeatedly, with its current state and the speed of the run."""

    _measured = 0  # lines of the log

    @cached_property
    def meter(self) -> ProgressMeter:
        """Meter of the run, which has taken all lines of the log."""
        until = self.case["time"]
        clock = Clock(StepLimit(), end=until.get("end"), steps=until.get("steps"))
        return ProgressMeter(self.cells[0], clock, PSEUDO_TIME in self.report)

    def look(self) -> None:
        super().look()
        if len(self.log) < self._measured:  # the run was resumed from a checkpoint
            self.meter.samples.clear()
            self._measured = 0
        for line in self.log[self._measured :]:
            self.meter.take(line["wall"], line["step"], line["time"])
        self._measured = len(self.log)

    @property
    def last(self) -> Status:
        return self.log[-1] if self.log else {}

    @property
    def heading(self) -> str:
        """Title of the case, its cells, and the end of the run."""
        return f"{self.case.get('title', '')}: {self.cells[1]}, to {'at most ' * self.meter.pseudo_time}{self.goal}"

    @property
    def goal(self) -> str:
        """End of the run."""
        return target(self.meter.clock.end, self.meter.clock.steps)


def follow(directory: Path) -> None:
    """Show a run until it has ended, and then its result. Raises BadInput if it does not exist."""
    run = Followed(directory)
    older = run.log[:-FIRST]
    begin = older[-1]["step"] if older else -1
    with view(run.heading, run.meter, directory / LOG) as show:
        while True:
            restarts = run.report.get("restarts", ())
            status = {"stage": run.state, "restarts": len(restarts)}
            if last := run.last:
                resumed = max([begin, *(restart["step"] for restart in restarts[-1:])])
                status |= {**last, "seconds": last["wall"], "resumed": resumed}
            show(status)
            if run.over:
                break
            time.sleep(EVERY)
            run.look()
    say(run.title, run.rows())
