"""Checks of an execution: interfering steps are ordered, passes are apart, and every reader finds what it has to.

Interfering pairs are looked for by brute force: every two steps of which one writes a cell that the other touches.

Versions are one execution on the numbers of launches instead of values. Every cell holds the number of the launch that
wrote it last. The program itself, done in one memory, says which number each reader has to find. Where all interfering
steps are ordered, what one execution finds is found by all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from taskflow.runtime.proof.cells import reads, writes
from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.numbering import WHOLE
from taskflow.runtime.proof.timeline import ONE, Place, TimedStep
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Launch, Valid
from taskflow.runtime.tasks.dependence import poison

ROWS = 1024  # pairs are looked at in tables of so many rows
NONE = np.empty(0, np.int64)
UNKNOWN = -1  # a ghost cell that nobody filled, a buffer that nobody packed
Snapshot = tuple[int, dict[str, np.ndarray], dict[str, int]]  # number of a launch, and what it has to find


def races(execution: Execution) -> tuple[int, list[str]]:
    """Return the number of interfering pairs, and the faults of those that may be done at the same time."""
    touching: dict[Place, list[TimedStep]] = defaultdict(list)
    for step in execution.steps:
        for place in step.reads.keys() | step.writes.keys():
            if place[0] != "wire":  # what is on its way is the channel's own
                touching[place].append(step)
    count, faults = 0, []
    for place, steps in touching.items():
        writes, touched = _tables(steps, place)
        writers = np.flatnonzero(writes.any(axis=1))
        meet = _meetings(writes[writers], touched, writers)
        if not meet.any():
            continue
        count += int(meet.sum())
        begins, ends = np.array([step.begin for step in steps]), np.array([step.end for step in steps])
        before = execution.order.before
        ordered = before(ends[writers], begins) | before(ends, begins[writers]).T
        for i, j in np.argwhere(meet & ~ordered):
            (one, first), (other, second) = sorted((n, steps[n]) for n in (writers[i], j))
            disputed = np.flatnonzero(writes[one] * touched[other] + touched[one] * writes[other])
            where = execution.describe(place, disputed)
            faults.append(f"{where}: {first.text} and {second.text} are not ordered")
    return count, faults


def _meetings(writes: np.ndarray, touched: np.ndarray, writers: np.ndarray) -> np.ndarray:
    """Entry [i, j]: whether the step writers[i] writes a cell that step j touches. Two that write have one entry."""
    parts = [writes[first : first + ROWS] @ touched.T > 0 for first in range(0, len(writers), ROWS)]
    meet = np.concatenate(parts) if parts else np.zeros((0, len(touched)), bool)
    both = meet[:, writers]
    meet[:, writers] = np.triu(both | both.T, 1)
    return meet


def collisions(execution: Execution) -> Iterator[str]:
    """Copies of one launch that fill a cell twice, or read one that another fills: they are done at the same time."""
    for step in execution.steps:
        filled: dict[Place, list[np.ndarray]] = defaultdict(list)
        for _, _, place, cells in step.moves:
            filled[place].append(np.unique(cells))  # packed cells stand at several places, or for several
        for place, parts in filled.items():
            every = np.concatenate(parts)
            if len(parts) > 1 and np.unique(every).size < every.size:
                yield f"{execution.describe(place, every[:1])}: {step.text} fills some cells twice"
            if place in step.reads and np.isin(step.reads[place], every).any():
                yield f"{execution.describe(place, every[:1])}: {step.text} reads what it fills"


def separation(execution: Execution) -> Iterator[str]:
    """Steps that reach over the beginning of their pass, or that of the next.

    Where there is none, what was proved of two passes holds for any number: all that a pass does to a block's memory is
    over before the block's next pass begins, and whatever comes later waits for that beginning. Left out are buffers of
    what is sent (whoever packs one waits for its last message, whatever pass that was of) and the shares of reductions,
    which have two places that take turns.
    """
    before = execution.order.before
    for step in execution.steps:
        places = [place for place in step.reads.keys() | step.writes.keys() if place[0] not in ("out", "wire", "board")]
        for begins, later in {_bounds(execution, step.turn, place) for place in places}:
            begun = step.turn < 0 or before(np.array(begins), np.array([step.begin])).any()
            if not begun or not before(np.array([step.end]), np.array(later)).all():
                yield f"{step.text} is not within its pass"
                break


def overwritten(execution: Execution, partition: Partition) -> Iterator[str]:
    """Steps that write constant fields, which are the host's alone, ghost cells included."""
    names = [name for name, field in partition.fields.items() if field.constant]
    constant = {(block, name) for block in range(len(partition)) for name in names}
    for step in execution.steps:
        for place in step.writes.keys() & constant:
            yield f"{execution.describe(place, step.writes[place][:1])}: {step.text} writes what is constant"


def _bounds(execution: Execution, turn: int, place: Place) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The events with which a pass may begin to touch a place, and those that it must not reach. A buffer of what comes
    in is touched again by whichever later pass waits for messages.
    """
    if place[0] == "in":
        now, *later = (start[place[2]].host for start in execution.starts[turn:])
        return tuple(e for e in (now,) if e is not None), tuple(e for e in later if e is not None)[:1]
    owner = place[2] if place[0] == "inbox" else place[0]
    return execution.starts[turn][owner].lanes, execution.starts[turn + 1][owner].lanes


def _tables(steps: list[TimedStep], place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells of a place each step writes, and which it touches at all: ones in matrices of zeros."""
    parts = [(step.writes.get(place, NONE), step.reads.get(place, NONE)) for step in steps]
    writes = np.zeros((len(steps), 1 + max(int(cells.max(initial=0)) for pair in parts for cells in pair)), np.float32)
    touched = writes.copy()
    for row, (written, read) in enumerate(parts):
        writes[row, written] = touched[row, written] = touched[row, read] = 1
    return writes, touched


class Versions:
    """The numbers in all memories, and those that the program means to be there."""

    def __init__(self, execution: Execution, partition: Partition, valid: Sequence[Valid]) -> None:
        self.execution, self.partition, self.cells = execution, partition, execution.cells
        self.known: dict[str, int] = defaultdict(int)
        self.whole = {name: np.zeros(self.cells[name].size(WHOLE), int) for name in partition.fields}
        self.launched = 0
        self.memory: dict[Place, np.ndarray] = {}
        for block in range(len(partition)):
            for name in partition.fields:
                held = 0 if partition.fields[name].constant else UNKNOWN  # of a constant field ghost cells, too
                self.memory[block, name] = np.full(self.cells[name].size(block), held)
                for cells in self._held(block, name, valid):
                    self.memory[block, name][cells] = 0
        self.checked = 0

    def run(self, passes: Sequence[tuple[Sequence[Launch], Iterable[str]]]) -> list[str]:
        """Do everything once; returns what is wrong with what was read."""
        meant: list[dict[Launch, Snapshot]] = []
        begins: list[int] = []  # the number of the values that the host gives scalars before each pass
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
        return faults

    def left(self, valid: Sequence[Valid]) -> list[str]:
        """Return what is wrong at the end with a block's own cells, and with ghost cells that are called valid."""
        faults: list[str] = []
        for block in range(len(self.partition)):
            for name in self.partition.fields:
                for cells in self._held(block, name, valid):
                    expected = self.whole[name][self.cells[name].home[block][cells]]
                    faults += self._compare((block, name), cells, expected, "at the end")
            for name, number in self.known.items():
                if self._memory((block, "scalar", name), ONE)[0] != number:
                    faults.append(f"block {block}: at the end another {name} than the program's")
        return faults

    def _held(self, block: int, name: str, valid: Sequence[Valid]) -> Iterator[np.ndarray]:
        """Yield a block's own cells of a field, and its ghost cells that are called valid."""
        home = self.partition.homes[name]
        for piece in home.pieces_of(block):
            for box in (*home.own[piece], *valid[block].get((piece, name), ())):
                yield self.cells[name].index(block, piece, box)

    def _number(self) -> int:
        """An even number that nothing had before; the odd one after it is a block's share of a reduction."""
        self.launched += 2
        return self.launched

    def _mean(self, launch: Launch) -> Snapshot:
        """Do a launch in the one memory; returns what it has to find there."""
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
            memory[filled[memory[filled] != values]] = UNKNOWN  # what comes from several places has to be one
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
            if step.node is not None and step.effect == "compute" and step.node.launch.coloured:  # another piece of it
                expected = np.where(self._memory(place, cells)[cells] == number, number, expected)
            yield from self._compare(place, cells, expected, step.text)
        for place, cells in step.writes.items():
            partial = step.effect == "share" or (step.effect == "compute" and place[1] == "scalar")
            self._memory(place, cells)[cells] = step.counts[place] + 1 if place in step.counts else number + partial

    def _snapshot(self, step: TimedStep, meant: list[dict[Launch, Snapshot]], begins: list[int]) -> Snapshot:
        """Return the number that a step leaves, and the numbers that it has to find."""
        if step.node is not None and step.node.launch.task is poison:
            return UNKNOWN, {}, {}
        if step.node is not None:
            return meant[step.turn][step.node.launch]
        return begins[step.turn + (step.effect == "give")], {}, {}

    def _memory(self, place: Place, cells: np.ndarray) -> np.ndarray:
        """The numbers of a place that has at least these cells; scalars and counts begin with 0."""
        numbers, size = self.memory.get(place, np.empty(0, int)), int(cells.max(initial=0)) + 1
        if len(numbers) < size:
            blank = np.full(size - len(numbers), 0 if place[1] in ("scalar", "count") else UNKNOWN)
            numbers = self.memory[place] = np.concatenate([numbers, blank])
        return numbers

    def _compare(self, place: Place, cells: np.ndarray, expected: np.ndarray, text: str) -> Iterator[str]:
        numbers = self._memory(place, cells)[cells]
        wrong = numbers != expected
        if wrong.any():
            held = "what nobody filled in" if numbers[wrong][0] == UNKNOWN else "another version than the program means"
            yield f"{self.execution.describe(place, cells[wrong])}: {text} finds {held}"
