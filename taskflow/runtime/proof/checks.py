"""Checks of an execution: interfering steps are ordered, passes are separate, and constant fields are not written.

Interfering pairs are found by brute force: every two steps of which one writes a cell that the other accesses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.timeline import Place, TimedStep
from taskflow.runtime.regions import Partition

NONE = np.empty(0, np.int64)


def races(execution: Execution) -> tuple[int, list[str]]:
    """Return the number of interfering pairs, and the faults of unordered ones."""
    touching: dict[Place, list[TimedStep]] = defaultdict(list)
    for step in execution.steps:
        for place in step.reads.keys() | step.writes.keys():
            if place[0] != "wire":  # messages in flight belong to the channel
                touching[place].append(step)
    numbers = {step: n for n, step in enumerate(execution.steps)}
    begins, ends = np.array([[step.begin, step.end] for step in execution.steps]).reshape(-1, 2).T
    pairs, places = [np.empty((0, 2), np.int64)], list[Place]()
    for place, steps in touching.items():
        if (meet := _meetings(steps, place)).size:
            pairs.append(np.array([numbers[step] for step in steps])[meet])
            places += [place] * len(meet)
    one, other = np.concatenate(pairs).T
    order = execution.order
    ordered = order.before(ends[one], begins[other]) | order.before(ends[other], begins[one])
    faults = []
    for n in np.flatnonzero(~ordered):
        first, second = (execution.steps[number] for number in sorted((one[n], other[n])))
        where = execution.describe(places[n], _disputed(first, second, places[n]))
        faults.append(f"{where}: {first.text} and {second.text} are not ordered")
    return len(one), faults


def _meetings(steps: list[TimedStep], place: Place) -> np.ndarray:
    """Return pairs of numbers of steps: the first writes a cell that the second touches."""
    if len(steps) < 2 or not any(place in step.writes for step in steps):
        return np.empty((0, 2), np.int64)
    writes, touched = _tables(steps, place)
    writers = np.flatnonzero(writes.any(axis=1))
    written, bits = np.packbits(writes[writers], axis=1), np.packbits(touched, axis=1)
    meet = np.array([(row & bits).any(axis=1) for row in written], bool).reshape(len(writers), len(steps))
    both = meet[:, writers]
    meet[:, writers] = np.triu(both | both.T, 1)  # two writers are one pair
    i, j = np.nonzero(meet)
    return np.stack([writers[i], j], axis=1)


def _disputed(one: TimedStep, other: TimedStep, place: Place) -> np.ndarray:
    """Return the cells of a place that one step writes and the other accesses."""
    (written, touched), (more, others) = (
        (step.writes.get(place, NONE), np.union1d(step.writes.get(place, NONE), step.reads.get(place, NONE)))
        for step in (one, other)
    )
    return np.union1d(np.intersect1d(written, others), np.intersect1d(touched, more))


def collisions(execution: Execution) -> Iterator[str]:
    """Yield concurrent copies of one launch that fill a cell twice, or read a cell that another fills."""
    for step in execution.steps:
        filled: dict[Place, list[np.ndarray]] = defaultdict(list)
        for _, _, place, cells in step.moves:
            filled[place].append(cells)
        for place, parts in filled.items():
            read = step.reads.get(place, NONE)
            every = np.zeros(1 + max(int(cells.max(initial=0)) for cells in (*parts, read)), bool)
            twice = every.copy()
            for cells in parts:  # one copy may fill a place repeatedly: packed cells stand at several
                twice[cells] |= every[cells]
                every[cells] = True
            for what, wrong in (("fills some cells twice", twice), ("reads cells that it fills", every[read])):
                if wrong.any():
                    yield f"{execution.describe(place, parts[0][:1])}: {step.text} {what}"


def separation(execution: Execution) -> Iterator[str]:
    """Yield steps that begin before their pass or end after the start of the next.

    Without such steps a proof of two passes holds for any number: all effects of a pass on a block's memory end before
    the block's next pass begins, and later steps wait for that beginning. Exempt are send buffers (packing waits for
    the last message, in any pass) and the shares of reductions, which alternate between two places.
    """
    always = execution.order.always
    for step in execution.steps:
        places = [place for place in step.reads.keys() | step.writes.keys() if place[0] not in ("out", "wire", "board")]
        for begins, later in {_bounds(execution, step.turn, place) for place in places}:
            begun = step.turn < 0 or any(always(event, step.begin) for event in begins)
            if not begun or not all(always(step.end, event) for event in later):
                yield f"{step.text} is not within its pass"
                break


def overwritten(execution: Execution, partition: Partition) -> Iterator[str]:
    """Yield steps that write constant fields or their ghost cells, which only the host may write."""
    names = [name for name, field in partition.fields.items() if field.constant]
    constant = {(block, name) for block in range(len(partition)) for name in names}
    for step in execution.steps:
        for place in step.writes.keys() & constant:
            yield f"{execution.describe(place, step.writes[place][:1])}: {step.text} writes a constant field"


def _bounds(execution: Execution, turn: int, place: Place) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the events from which a pass may access a place, and the events before which it must end. A receive buffer
    is next accessed by any later pass that waits for messages.
    """
    if place[0] == "in":
        now, *later = (start[place[2]].host for start in execution.starts[turn:])
        return tuple(e for e in (now,) if e is not None), tuple(e for e in later if e is not None)[:1]
    owner = place[2] if place[0] == "inbox" else place[0]
    return execution.starts[turn][owner].lanes, execution.starts[turn + 1][owner].lanes


def _tables(steps: list[TimedStep], place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells of a place each step writes, and which it touches at all: in rows of cells."""
    rows, written = _flat([step.writes for step in steps], place)
    more, read = _flat([step.reads for step in steps], place)
    writes = np.zeros((len(steps), 1 + max(int(cells.max(initial=0)) for cells in (written, read))), bool)
    writes[rows, written] = True
    touched = writes.copy()
    touched[more, read] = True
    return writes, touched


def _flat(touched: list[dict[Place, np.ndarray]], place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and cells of a place that each touches, in sequence."""
    parts = [cells.get(place, NONE) for cells in touched]
    return np.repeat(np.arange(len(parts)), [len(cells) for cells in parts]), np.concatenate(parts)
