"""Corrections of the state between steps, which the case schedules."""

from __future__ import annotations

from typing import Protocol

from taskflow.cases.timing.intervals import Every
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks import Program


class StateCorrection(Protocol):
    """A change of fields after steps that are due, before anything of them is recorded.

    - `every`: its interval
    - `program`: the one that it runs after a change
    """

    @property
    def every(self) -> Every: ...
    @property
    def program(self) -> Program: ...

    def apply(self, shard: Shard) -> None:
        """Change the fields of this block. Collective. The result depends on the state alone."""
