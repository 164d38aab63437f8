"""The progress of a run on one block: wall time, counted iterations and warnings, reported to the client."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from taskflow.runtime.machine import Control


class Progress:
    """Reports to the client through a control, which changes if the run pauses. `counted`: the scalars, each of one
    step, that are added up.
    """

    def __init__(self, control: Control, counted: Iterable[str]) -> None:
        self.control = control
        self.began = time.perf_counter()
        self.iterations = dict.fromkeys(counted, 0.0)
        self._warnings: list[str] = []

    @property
    def seconds(self) -> float:
        """The wall time of the run since its first state."""
        return time.perf_counter() - self.began

    def count(self, numbers: Mapping[str, float]) -> None:
        """Add the counted scalars of a step, or of a batch of steps."""
        for name in self.iterations:
            self.iterations[name] += numbers[name]

    def warn(self, *texts: str) -> None:
        """Report warnings, in addition to all before."""
        if texts:
            self._warnings.extend(texts)
            self.report(warnings=tuple(self._warnings))

    def report(self, **entries: Any) -> None:
        """Add entries to the status for the client."""
        self.control.report(**{**self.control.progress, **entries})

    def pass_to(self, control: Control, *without: str) -> None:
        """Report through another control from now on, with all entries so far except some."""
        if control is not self.control:
            control.report(**{name: entry for name, entry in self.control.progress.items() if name not in without})
            self.control = control
