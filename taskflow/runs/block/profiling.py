"""Profiling a run: a bounded number of its steps is timed on every block, and reported at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from taskflow.common.errors import BadArgument, BadInput
from taskflow.runtime.machine import Shard

if TYPE_CHECKING:
    from taskflow.runtime.profile import Profiler, Timeline

NAME = "profile"  # of both files in the run directory


@dataclass(frozen=True)
class Window:
    """The steps of a run that are profiled: `steps` of them, after the first `after` ones.

    `by` "timeline": timed; "nvtx": marked by name for NVIDIA's profilers. Raises BadInput if they are invalid.
    """

    after: int = 10
    steps: int = 20
    by: Literal["timeline", "nvtx"] = "timeline"

    def __post_init__(self) -> None:
        if self.after < 0 or self.steps < 1:
            raise BadInput(f"profile: {self.steps} steps after {self.after}; give at least one step, after 0 or more")


@dataclass(eq=False)
class Profiling:
    """The profiling window of one block's run, if any, after the best overlap has been found."""

    window: Window | None
    shard: Shard
    timeline: Timeline | None = None
    _profiler: Profiler | None = field(default=None, init=False)
    _started_at: int | None = field(default=None, init=False)  # the step

    def at(self, step: int) -> None:
        """Start or end profiling if scheduled after `step` steps."""
        if self.window is None:
            return
        if self._profiler is not None:
            self._profiler.step()
        if self._started_at is None and step >= self.window.after and not self.shard.trying:
            self._started_at = step
            self._begin(self.window)
        elif self._started_at is not None and step == self._started_at + self.window.steps:
            self.end()

    def _begin(self, window: Window) -> None:
        from taskflow.runtime.profile import Profiler, Ranges  # most runs have no profile

        if window.by == "nvtx":
            try:
                self.shard.instrument(Ranges.open())
            except BadArgument as error:
                raise BadInput(f"{error.called('--nvtx')}, or use --profile") from error
        else:
            self._profiler = Profiler(self.shard)
            self._profiler.start()

    def end(self) -> None:
        if self._profiler is not None:
            self._profiler.stop()
            self.timeline, self._profiler = self._profiler.timeline, None
        elif self.window is not None:
            self.shard.instrument(None)


def write_profile(directory: Path, timelines: Sequence[Timeline | None], window: Window) -> dict[str, Any]:
    """Write the timelines of all blocks into a run directory, with a picture of their shares; return the entries of the
    report.

    If the run ended before its window, nothing is written.
    """
    from taskflow.plots.charts import plot_shares  # loads matplotlib, which the blocks do not need
    from taskflow.runtime.profile import summarise, write_chrome

    recorded = [timeline for timeline in timelines if timeline is not None]
    summary = summarise(recorded)
    if recorded:
        write_chrome(directory / f"{NAME}.json", recorded)
    if summary["passes"]:
        counted = " and ".join(f"{count} x {name}" for name, count in summary["passes"].items())
        plot_shares(summary, directory / f"{NAME}.png", f"{directory.name}: {counted}, blocks: {summary['blocks']}")
    return {"after": window.after, "steps": window.steps, **summary}
