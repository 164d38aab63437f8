"""States: which ghost cells are valid, as numbers that mean the same on all blocks.

What a block does next depends on the ghost cells that are valid. Each block knows its own and its neighbours' only, so
two states may look alike to one block and not to another: they get one number only where all agree.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from taskflow.machine.channel import Gather
from taskflow.tasks import Valid


class States:
    """The states met so far; number 0, with which a run begins, has no valid ghost cell. `gather` gives the rows of all
    blocks from a row of each.
    """

    def __init__(self, gather: Gather) -> None:
        self._gather = gather
        self._valid: list[Valid] = [{}]
        self._written: dict[tuple[int, frozenset[str]], int] = {}

    def valid(self, number: int) -> Valid:
        """The valid ghost cells of a state."""
        return self._valid[number]

    def number(self, valid: Valid) -> int:
        """That of an earlier state which equals this one on all blocks, or a new one. All blocks have to ask."""
        equal = self._gather(np.array([valid == other for other in self._valid], np.uint8)).all(axis=0)
        return int(equal.argmax()) if equal.any() else self._new(valid)

    def after_writing(self, number: int, fields: Iterable[str]) -> int:
        """The state after every block has overwritten these fields: their ghost cells are valid no more."""
        key = number, frozenset(fields)
        if key not in self._written:
            kept = {ghosts: boxes for ghosts, boxes in self._valid[number].items() if ghosts[1] not in key[1]}
            self._written[key] = self._new(kept)
        return self._written[key]

    def _new(self, valid: Valid) -> int:
        self._valid.append(valid)
        return len(self._valid) - 1
