"""Checks of an execution: interfering steps are ordered, passes are apart, and nothing writes what is constant.

Interfering pairs are looked for by brute force: every two steps of which one writes a cell that the other touches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.timeline import Place, TimedStep
from taskflow.runtime.regions import Partition

ROWS = 1024  # pairs are looked at in tables of so many rows
NONE = np.empty(0, np.int64)


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
