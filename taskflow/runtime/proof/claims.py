"""Numbers for sets of valid ghost cells. States are many, but most of their claims recur."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from taskflow.runtime.proof.cells import Cells
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Valid

State = Sequence[Valid]  # of each block
Claimed = tuple[tuple[Box, ...], ...]  # valid ghost cells of a block's field, by piece
NOTHING = 0  # the number of no claim


class Claims:
    """The claims of all states. `places` are the fields of the blocks; equal sets of claimed cells have equal numbers.
    """

    def __init__(self, partition: Partition) -> None:
        self.places = [(block, name) for block in range(len(partition)) for name in partition.fields]
        self._pieces = [partition.homes[name].pieces_of(block) for block, name in self.places]
        self._numbers: dict[Claimed, int] = {}
        self._claimed: list[Claimed] = [()]
        self._cells: dict[tuple[int, int], np.ndarray] = {}
        self._of: Cells | None = None  # by which these are numbered
        self._states: dict[int, tuple[State, tuple[int, ...]]] = {}  # by identity, which ends with the object

    def numbers(self, state: State) -> tuple[int, ...]:
        """Return the number of the claimed cells of each place."""
        if id(state) not in self._states:
            places = zip(self.places, self._pieces, strict=True)
            claimed = (tuple(state[block].get((n, name), ()) for n in pieces) for (block, name), pieces in places)
            self._states[id(state)] = state, tuple(map(self._number, claimed))
        return self._states[id(state)][1]

    def cells(self, numbered: Cells, place: int, claim: int) -> np.ndarray:
        """Return the claimed cells of a place, given its number."""
        if numbered is not self._of:
            self._cells, self._of = {}, numbered
        if (place, claim) not in self._cells:
            (block, name), pieces = self.places[place], self._pieces[place]
            claimed = zip(pieces, self._claimed[claim], strict=True) if claim != NOTHING else ()
            parts = [numbered[name].index(block, piece, box) for piece, boxes in claimed for box in boxes]
            self._cells[place, claim] = np.concatenate([np.empty(0, np.int64), *parts])
        return self._cells[place, claim]

    def boxes(self) -> Iterable[Box]:
        """Yield all boxes that are claimed."""
        return (box for claimed in self._claimed for boxes in claimed for box in boxes)

    def _number(self, claimed: Claimed) -> int:
        if not any(claimed):
            return NOTHING
        number = self._numbers.setdefault(claimed, len(self._claimed))
        if number == len(self._claimed):
            self._claimed.append(claimed)
        return number
