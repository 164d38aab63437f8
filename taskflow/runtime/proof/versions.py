"""Versions: one execution on the numbers of launches instead of values.

Every cell holds the number of the launch that wrote it last. The program itself, done in one memory, says which number
each reader has to find. Where all interfering steps are ordered, what one execution finds is found by all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from taskflow.runtime.proof.cells import WHOLE, reads, writes
from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.timeline import ONE, Place, Step
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Launch, Valid
from taskflow.runtime.tasks.poison import poison

UNKNOWN = -1  # a ghost cell that nobody filled, a buffer that nobody packed
Snapshot = tuple[int, dict[str, np.ndarray], dict[str, int]]  # number of a launch, and what it has to find


class Versions:
    """Numbers in all memories, and what they have to be."""

    def __init__(self, execution: Execution, partition: Partition, valid: Sequence[Valid]) -> None:
        self.execution, self.partition, self.cells = execution, partition, execution.cells
        self.known: dict[str, int] = defaultdict(int)
        self.whole = {name: np.zeros(self.cells.size(WHOLE, name), int) for name in partition.fields}
        self.launched = 0
        self.memory: dict[Place, np.ndarray] = {}
        for block in range(len(partition)):
            for name, home in partition.homes.items():
                numbers = self.memory[block, name] = np.full(self.cells.size(block, name), UNKNOWN)
                for box in (home.owned[block], *valid[block].get((block, name), ())):
                    numbers[self.cells.index(block, name, box)] = 0
        self.checked = 0

    def run(self, passes: Sequence[tuple[Sequence[Launch], Iterable[str]]]) -> list[str]:
        """Do everything once; what is wrong with what was read."""
        meant: list[dict[Launch, Snapshot]] = []
        given: list[int] = []
        for launches, scalars in passes:
            given.append(self._number())
            self.known |= dict.fromkeys(scalars, given[-1])
            meant.append({launch: self._mean(launch) for launch in launches})
        at: dict[int, list[Step]] = defaultdict(list)
        for step in self.execution.steps:
            at[step.begin].append(step)
        faults: list[str] = []
        for event in self.execution.order.sequence:
            for step in at[event]:
                faults += self._do(step, meant, given)
        return faults

    def left(self, valid: Sequence[Valid]) -> list[str]:
        """What is not as it has to be at the end: a block's own cells, and ghost cells that are called valid."""
        faults: list[str] = []
        for block in range(len(self.partition)):
            for name, home in self.partition.homes.items():
                for box in (home.owned[block], *valid[block].get((block, name), ())):
                    cells = self.cells.index(block, name, box)
                    faults += self._compare((block, name), cells, self._wanted(name, block, cells), "at the end")
            for name, number in self.known.items():
                if self._memory((block, "scalar", name), ONE)[0] != number:
                    faults.append(f"block {block}: at the end another {name} than the program's")
        return faults

    def _number(self) -> int:
        """An even number that nothing had before; the odd one after it is a block's share of a reduction."""
        self.launched += 2
        return self.launched

    def _mean(self, launch: Launch) -> Snapshot:
        """Do a launch in the one memory; what it found there."""
        found = {name: self.whole[name].copy() for name, _ in reads(launch, launch.over, self.partition)}
        snapshot = self._number(), found, dict(self.known)
        for name, box in writes(launch, launch.over):
            self.whole[name][self.cells.index(WHOLE, name, box)] = snapshot[0]
        self.known |= {name: snapshot[0] for name, _ in launch.reductions.values()}
        return snapshot

    def _do(self, step: Step, meant: list[dict[Launch, Snapshot]], given: list[int]) -> Iterator[str]:
        moved = [(self._memory(source, taken)[taken], target, filled) for source, taken, target, filled in step.moves]
        for values, target, filled in moved:
            memory = self._memory(target, filled)
            memory[filled] = values
            memory[filled[memory[filled] != values]] = UNKNOWN  # what comes from several places has to be one
        if step.effect == "move":
            return
        number, fields, scalars = self._found(step, meant, given)
        for place, cells in step.reads.items():
            if place in step.counts:
                wanted = np.array([step.counts[place]])
            elif step.effect in ("share", "fold"):
                wanted = np.full(len(cells), number + 1)
            elif place[1] == "scalar":
                wanted = np.array([scalars.get(place[2], 0)])
            else:
                wanted = fields[place[1]][self.cells.home(*place)[cells]]
            self.checked += len(cells)
            if step.node is not None and step.effect == "compute" and step.node.launch.coloured:  # another piece of it
                wanted = np.where(self._memory(place, cells)[cells] == number, number, wanted)
            yield from self._compare(place, cells, wanted, step.text)
        for place, cells in step.writes.items():
            partial = step.effect == "share" or (step.effect == "compute" and place[1] == "scalar")
            self._memory(place, cells)[cells] = step.counts[place] + 1 if place in step.counts else number + partial

    def _found(self, step: Step, meant: list[dict[Launch, Snapshot]], given: list[int]) -> Snapshot:
        """What the step has to find, and the number that it leaves."""
        if step.node is not None and step.node.launch.task is poison:
            return UNKNOWN, {}, {}
        if step.node is not None:
            return meant[step.turn][step.node.launch]
        return given[step.turn + (step.effect == "give")], {}, {}

    def _memory(self, place: Place, cells: np.ndarray) -> np.ndarray:
        """The numbers of a place that has at least these cells; scalars and counts begin with 0."""
        numbers, size = self.memory.get(place, np.empty(0, int)), int(cells.max(initial=0)) + 1
        if len(numbers) < size:
            blank = np.full(size - len(numbers), 0 if place[1] in ("scalar", "count") else UNKNOWN)
            numbers = self.memory[place] = np.concatenate([numbers, blank])
        return numbers

    def _wanted(self, name: str, block: int, cells: np.ndarray) -> np.ndarray:
        return self.whole[name][self.cells.home(block, name)[cells]]

    def _compare(self, place: Place, cells: np.ndarray, wanted: np.ndarray, text: str) -> Iterator[str]:
        found = self._memory(place, cells)[cells]
        wrong = found != wanted
        if wrong.any():
            held = "what nobody filled in" if found[wrong][0] == UNKNOWN else "another version than the program means"
            yield f"{self.execution.describe(place, cells[wrong])}: {text} finds {held}"
