"""Folds of numbers over blocks that are threads of one process on cores (`host.cpp`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Array
from taskflow.runtime.machine.direct.host_meeting import HostWatch, Meeting
from taskflow.runtime.machine.kernel.host_call import CallSequence, HostCall
from taskflow.runtime.tasks import IDENTITY, MOST_REDUCTIONS
from taskflow.runtime.tasks.numbers import Operator

NUMBERS = MOST_REDUCTIONS
# struct Fold of host.cpp
FOLD = np.dtype(
    [("value", np.uint64, NUMBERS), ("identity", np.float64, NUMBERS), ("kind", np.intc, NUMBERS)]
    + [(name, np.uint64) for name in ("arrived", "count", "shares", "waiting")]
    + [(name, np.intc) for name in ("numbers", "contributes", "blocks", "block", "begun")],
    align=True,
)
OPERATORS: tuple[Operator, ...] = "sum", "max", "min"  # in the order of host.cpp


class HostFolds:
    """Folds over all blocks, by a `function` of host.cpp, for the block of `place`: its number, and their number.

    Called with a few numbers of the host, it returns the bits of `BlockReducer`.
    """

    most = NUMBERS

    def __init__(self, function: Any, meeting: Meeting, watch: HostWatch, place: tuple[int, int]) -> None:
        self._function, self._meeting, self._watch, self._place = function, meeting, watch, place
        self._values = np.zeros(NUMBERS)
        self._calls: dict[tuple[str, ...], CallSequence] = {}

    def __call__(self, row: np.ndarray, operators: Sequence[str]) -> np.ndarray:
        """Return the numbers of all blocks, folded in their order. Collective."""
        key, values = tuple(operators), self._values[: row.size]
        if key not in self._calls:
            each = [values[n : n + 1] for n in range(row.size)]
            call = self.call("host", each, key, "the numbers of all blocks", contributes=True)
            self._calls[key] = CallSequence([call])  # made once: blocks fold after every step
        values[:] = row
        self._calls[key]()
        return values.copy()

    def call(
        self, name: int | str, values: Sequence[Array], operators: Sequence[str], what: str, *, contributes: bool
    ) -> HostCall:
        """Return the call that folds numbers in place. Calls of the same name follow each other on all blocks."""
        (block, blocks), meeting, argument = self._place, self._meeting, np.zeros((), FOLD)
        argument["value"][: len(values)] = [value.ctypes.data for value in values]
        argument["kind"][: len(values)] = kinds = [OPERATORS.index(operator) for operator in operators]
        argument["identity"][: len(values)] = [IDENTITY[OPERATORS[kind]] for kind in kinds]
        argument["arrived"] = meeting.flag("fold", name)
        argument["count"] = meeting.flag("folds", block, name)
        argument["shares"] = meeting.memory(("shares", name), 2 * NUMBERS * blocks, np.float64)
        argument["waiting"] = self._watch.waiting.ctypes.data
        argument["numbers"], argument["contributes"] = len(values), contributes
        argument["blocks"], argument["block"] = blocks, block
        return self._watch.patient(self._function, argument, [what], (values, meeting))
