"""Instruments: what a shard lets mark its traces."""

from __future__ import annotations

from typing import Protocol

from taskflow.machine.trace.tracer import Trace
from taskflow.tasks import Program


class Instrument(Protocol):
    """What marks the operations of traces, to see when they are done. `graphs`: marks work in a CUDA graph, too."""

    graphs: bool

    def mark(self, trace: Trace, program: Program) -> Trace:
        """The trace with marks: it does the same in the same order."""

    def enclose(self, trace: Trace) -> Trace:
        """The trace that was marked and is ready, with marks around its calls."""
