"""One execution on the numbers of launches instead of values: every reader finds the expected version.

Every cell holds the number of the launch that wrote it last. The program itself, executed in one memory, defines the
number that each reader must find. If all interfering steps are ordered, one execution represents all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np

from taskflow.runtime.proof.cells import NOTHING, Claims, reads, writes
from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.numbering import WHOLE
from taskflow.runtime.proof.timeline import ONE, Place, TimedStep
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Launch, Valid
from taskflow.runtime.tasks.dependence import poison

NONE = np.empty(0, np.int64)
UNKNOWN = -1  # an unpacked buffer, a poisoned cell
Snapshot = tuple[int, dict[str, np.ndarray], dict[str, int]]  # number of a launch, and the numbers it must find


@dataclass(frozen=True)
class Reading:
    """Cells in which a reader finds the initial numbers of ghost cells."""

    place: Place
    cells: np.ndarray
    numbers: np.ndarray
    text: str


@dataclass(frozen=True)
class EndFindings:
    """Faults, readings of ghost cells that are taken for valid, and these cells by the number of their place."""

    faults: list[str]
    taken: list[Reading]
    needed: list[tuple[int, np.ndarray]]


class Versions:
    """The numbers in all memories, and the numbers that the program requires.

    A ghost cell begins with a unique number below `UNKNOWN`. A reader that finds it instead of 0 assumes that the ghost
    cell is valid. So one execution covers all assumptions on valid ghost cells before it.
    """

    def __init__(self, execution: Execution, partition: Partition, claims: Claims | None = None) -> None:
        claims = claims or Claims(partition)
        self.execution, self.partition, self.cells, self._claims = execution, partition, execution.cells, claims
        self.known: dict[str, int] = defaultdict(int)
        self.whole = {name: np.zeros(self.cells[name].size(WHOLE), int) for name in partition.fields}
        self.launched = self.checked = 0
        self.memory: dict[Place, np.ndarray] = {}
        self._taken: list[Reading] = []  # what was taken for valid
        self._needed: list[tuple[int, np.ndarray]] = []  # these ghost cells, by the number of their place
        self._valid, self._ends, self._owned = cache(self._called), cache(self._end), cache(self._at_end)
        self._firsts = [0]  # ghost cells before each place
        for block, name in claims.places:
            size, constant, first = self.cells[name].size(block), partition.fields[name].constant, self._firsts[-1]
            numbers = np.zeros(size, int) if constant else UNKNOWN - 1 - first - np.arange(size)
            numbers[self._own(block, name)] = 0
            self.memory[block, name] = numbers
            self._firsts.append(first + size)

    def run(self, passes: Sequence[tuple[Sequence[Launch], Iterable[str]]]) -> list[str]:
        """Execute everything once, and return the faults of its reads."""
        meant: list[dict[Launch, Snapshot]] = []
        begins: list[int] = []  # numbers of the values that the host sets before each pass
        for launches, scalars in passes:
            begins.append(self._number())
            self.known |= dict.fromkeys(scalars, begins[-1])
            meant.append({launch: self._mean(launch) for launch in launches})
        at: dict[int, list[TimedStep]] = defaultdict(list)
        for step in self.execution.steps:
            at[step.begin].append(step)
        faults: list[str] = []
        for event in self.execution.order.sequence:
            for step in at[event]:
                faults += self._do(step, meant, begins)
        for block in range(len(self.partition)):
            for name, number in self.known.items():
                if self._memory((block, "scalar", name), ONE)[0] != number:
                    faults.append(f"block {block}: at the end another {name} than the program's")
        self._needed = self._ghosts(self._taken)
        return faults

    def left(self, first: Sequence[Valid], last: Sequence[Valid]) -> list[str]:
        """Return the faults if these ghost cells are assumed valid before and after: of the reads, and, at the end, of
        these ghost cells and of a block's own cells.
        """
        before, after = self._claims.numbers(first), self._claims.numbers(last)
        ends = [self._owned(n) for n in range(len(after))]
        ends += [self._ends(n, claim) for n, claim in enumerate(after) if claim != NOTHING]
        ends.append(EndFindings([], self._taken, self._needed))
        faults = [fault for end in ends for fault in end.faults]
        taken = [end.taken for end in ends if not self._hold(end.needed, before)]
        if taken:
            valid = np.concatenate([self._valid(*which) for which in enumerate(before)])
            unfilled = ((reading, ~valid[UNKNOWN - 1 - reading.numbers]) for some in taken for reading in some)
            faults += [
                self._wrong(reading.place, reading.cells[some], reading.text, filled=False)
                for reading, some in unfilled if some.any()
            ]  # fmt: skip
        return faults

    def _hold(self, needed: Sequence[tuple[int, np.ndarray]], claims: Sequence[int]) -> bool:
        """Return whether all ghost cells that are needed are claimed, at places with these claims."""
        return all(self._valid(n, claims[n])[cells].all() for n, cells in needed)

    def _ghosts(self, taken: Iterable[Reading]) -> list[tuple[int, np.ndarray]]:
        """Return the ghost cells that were taken for valid, by the number of their place."""
        cells = np.unique(UNKNOWN - 1 - np.concatenate([NONE, *(reading.numbers for reading in taken)]))
        numbers, starts = np.unique(np.searchsorted(self._firsts, cells, side="right") - 1, return_index=True)
        parts = zip(numbers.tolist(), np.split(cells, starts[1:]), strict=False)
        return [(n, some - self._firsts[n]) for n, some in parts]

    def _called(self, number: int, claim: int) -> np.ndarray:
        """For each cell of a block's field, by the number of the place, whether it is claimed."""
        block, name = self._claims.places[number]
        called = np.zeros(self.cells[name].size(block), bool)
        called[self._claims.cells(self.cells, number, claim)] = True
        return called

    def _end(self, number: int, claim: int) -> EndFindings:
        """Return the findings in claimed ghost cells at the end."""
        return self._found(self._claims.places[number], self._claims.cells(self.cells, number, claim))

    def _at_end(self, number: int) -> EndFindings:
        """The same in a block's own cells."""
        place = self._claims.places[number]
        return self._found(place, self._own(*place))

    def _found(self, place: Place, cells: np.ndarray) -> EndFindings:
        before, self._taken = self._taken, []
        block, name = place
        faults = list(self._compare(place, cells, self.whole[name][self.cells[name].home[block][cells]], "at the end"))
        taken, self._taken = self._taken, before
        return EndFindings(faults, taken, self._ghosts(taken) if taken else [])

    def _own(self, block: int, name: str) -> np.ndarray:
        home = self.partition.homes[name]
        own = [(piece, box) for piece in home.pieces_of(block) for box in home.own[piece]]
        return np.concatenate([NONE, *(self.cells[name].index(block, *where) for where in own)])

    def _number(self) -> int:
        """Return an unused even number; the next odd one is a block's share of a reduction."""
        self.launched += 2
        return self.launched

    def _mean(self, launch: Launch) -> Snapshot:
        """Execute a launch in the single memory, and return the numbers that it must find there."""
        fields = {name: self.whole[name].copy() for name, _ in reads(launch, launch.over, self.partition)}
        snapshot = self._number(), fields, dict(self.known)
        for name, box in chain(*(writes(launch, box) for box in launch.boxes)):
            self.whole[name][self.cells[name].whole(box)] = snapshot[0]
        self.known |= {name: snapshot[0] for name, _ in launch.reductions.values()}
        return snapshot

    def _do(self, step: TimedStep, meant: list[dict[Launch, Snapshot]], begins: list[int]) -> Iterator[str]:
        moved = [(self._memory(source, taken)[taken], target, filled) for source, taken, target, filled in step.moves]
        for values, target, filled in moved:
            memory = self._memory(target, filled)
            memory[filled] = values
            memory[filled[memory[filled] != values]] = UNKNOWN  # copies from several places must agree
        if step.effect == "move":
            return
        number, fields, scalars = self._snapshot(step, meant, begins)
        for place, cells in step.reads.items():
            if place in step.counts:
                expected = np.array([step.counts[place]])
            elif step.effect in ("share", "fold"):
                expected = np.full(len(cells), number + 1)
            elif place[1] == "scalar":
                expected = np.array([scalars.get(place[2], 0)])
            else:
                expected = fields[place[1]][self.cells[place[1]].home[place[0]][cells]]
            self.checked += len(cells)
            if step.node is not None and step.effect == "compute" and step.node.launch.coloured:  # or of another piece
                expected = np.where(self._memory(place, cells)[cells] == number, number, expected)
            yield from self._compare(place, cells, expected, step.text)
        for place, cells in step.writes.items():
            partial = step.effect == "share" or (step.effect == "compute" and place[1] == "scalar")
            self._memory(place, cells)[cells] = step.counts[place] + 1 if place in step.counts else number + partial

    def _snapshot(self, step: TimedStep, meant: list[dict[Launch, Snapshot]], begins: list[int]) -> Snapshot:
        """Return the number that a step writes, and the numbers that it must find."""
        if step.node is not None and step.node.launch.task is poison:
            return UNKNOWN, {}, {}
        if step.node is not None:
            return meant[step.turn][step.node.launch]
        return begins[step.turn + (step.effect == "give")], {}, {}

    def _memory(self, place: Place, cells: np.ndarray) -> np.ndarray:
        """Return the numbers of a place with at least these cells; scalars and counts begin with 0."""
        numbers, size = self.memory.get(place, np.empty(0, int)), int(cells.max(initial=0)) + 1
        if len(numbers) < size:
            blank = np.full(size - len(numbers), 0 if place[1] in ("scalar", "count") else UNKNOWN)
            numbers = self.memory[place] = np.concatenate([numbers, blank])
        return numbers

    def _compare(self, place: Place, cells: np.ndarray, expected: np.ndarray, text: str) -> Iterator[str]:
        numbers = self._memory(place, cells)[cells]
        wrong = numbers != expected
        if not wrong.any():
            return
        taken = wrong & (numbers < UNKNOWN) & (expected == 0)
        if taken.any():
            self._taken.append(Reading(place, cells[taken], numbers[taken], text))
        if (wrong & ~taken).any():
            unfilled = numbers[wrong & ~taken][0] <= UNKNOWN
            yield self._wrong(place, cells[wrong & ~taken], text, filled=not unfilled)

    def _wrong(self, place: Place, cells: np.ndarray, text: str, *, filled: bool) -> str:
        held = "another version than the program means" if filled else "unfilled cells"
        return f"{self.execution.describe(place, cells)}: {text} finds {held}"
