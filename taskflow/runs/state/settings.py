"""Values of a case set by the user during a run, on one block: numbers, fields on sides, motions of bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from taskflow.cases.language.table import written
from taskflow.cases.tables.timed import Value, value
from taskflow.systems.base.interfaces import BodyPaths, InflowValues
from taskflow.systems.base.timed import TimedNumbers


class Settings:
    """The values set by the user, by key, and the objects that use them instead of the values of the case."""

    def __init__(self, timed: TimedNumbers, inflows: InflowValues | None, surroundings: BodyPaths | None) -> None:
        self.values: dict[str, Value] = {}
        self.timed = replace(timed, instead=self.values)
        self.inflows = inflows.following(self.values) if inflows else None
        self._moving = surroundings.moving if surroundings else None

    def update(self, values: Mapping[str, Any]) -> None:
        """Set values, by key, from the user or from a checkpoint."""
        self.values.update({key: value(given) for key, given in values.items()})
        if self._moving is not None:
            self._moving.change(self.values)

    def written(self) -> dict[str, Any]:
        """Return the values for a checkpoint."""
        return {key: written(given) for key, given in self.values.items()}
