"""Interfering pairs, by brute force: every two steps of which one writes a cell that the other touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.timeline import Place, Step

ROWS = 1024  # pairs are looked at in tables of so many rows


def races(execution: Execution) -> tuple[int, list[str]]:
    """The number of interfering pairs, and what is wrong with those that may be done at the same time."""
    touching: dict[Place, list[Step]] = defaultdict(list)
    for step in execution.steps:
        for place in step.reads.keys() | step.writes.keys():
            if place[0] != "wire":  # what is on its way is the channel's own
                touching[place].append(step)
    count, faults = 0, []
    for place, steps in touching.items():
        writes, touched = _table(steps, place, reads=False), _table(steps, place, reads=True)
        begins, ends = np.array([step.begin for step in steps]), np.array([step.end for step in steps])
        for first in range(0, len(steps), ROWS):
            rows = slice(first, first + ROWS)
            meet = (writes[rows] @ touched.T + touched[rows] @ writes.T) > 0
            meet &= np.arange(len(steps)) > np.arange(first, first + len(meet))[:, None]  # each pair once, none twice
            count += int(meet.sum())
            ordered = execution.order.before(ends[rows], begins) | execution.order.before(ends, begins[rows]).T
            for i, j in np.argwhere(meet & ~ordered):
                one, other = steps[first + i], steps[j]
                faults.append(f"{_where(execution, place, one, other)}: {one.text} and {other.text} are not ordered")
    return count, faults


def collisions(execution: Execution) -> Iterator[str]:
    """Copies of one launch that fill a cell twice, or read one that another fills: they are done at the same time."""
    for step in execution.steps:
        filled: dict[Place, list[np.ndarray]] = defaultdict(list)
        for _, _, place, cells in step.moves:
            filled[place].append(np.unique(cells))  # packed cells stand at several places, or for several
        for place, parts in filled.items():
            every = np.concatenate(parts)
            if np.unique(every).size < every.size:
                yield f"{execution.describe(place, every[:1])}: {step.text} fills some cells twice"
            if np.isin(step.reads.get(place, ()), every).any():
                yield f"{execution.describe(place, every[:1])}: {step.text} reads what it fills"


def separation(execution: Execution) -> Iterator[str]:
    """Steps that reach over the beginning of their pass, or that of the next.

    Where there is none, what was proved of two passes holds for any number: all that a pass does to a block's memory is
    over before the block's next pass begins, and whatever comes later waits for that beginning. Left out are buffers of
    what is sent (whoever packs one waits for its last message, whatever pass that was of) and the shares of reductions,
    which have two places that take turns.
    """
    order = execution.order
    for step in execution.steps:
        for place in step.reads.keys() | step.writes.keys():
            if place[0] in ("out", "wire", "board"):
                continue
            begins, later = _bounds(execution, step.turn, place)
            begun = step.turn < 0 or order.before(np.array(begins), np.array([step.begin])).any()
            if not begun or not order.before(np.array([step.end]), np.array(later)).all():
                yield f"{step.text} is not within its pass"
                break


def _bounds(execution: Execution, turn: int, place: Place) -> tuple[Sequence[int], Sequence[int]]:
    """The events with which a pass may begin to touch a place, and those that it must not reach. A buffer of what comes
    in is touched again by whichever later pass waits for messages.
    """
    if place[0] == "in":
        now, *later = (start[place[2]].host for start in execution.starts[turn:])
        return [event for event in (now,) if event is not None], [e for e in later if e is not None][:1]
    owner = place[2] if place[0] == "inbox" else place[0]
    return execution.starts[turn][owner].lanes, execution.starts[turn + 1][owner].lanes


def _table(steps: list[Step], place: Place, *, reads: bool) -> np.ndarray:
    """Row for row which cells of a place a step writes, or (`reads`) touches at all: ones in a matrix of zeros."""
    size = 1 + max(int(cells.max(initial=0)) for step in steps for cells in _cells(step, place, reads=True))
    table = np.zeros((len(steps), size), np.float32)
    for row, step in zip(table, steps, strict=True):
        for cells in _cells(step, place, reads=reads):
            row[cells] = 1
    return table


def _cells(step: Step, place: Place, *, reads: bool) -> list[np.ndarray]:
    touched = (step.reads, step.writes) if reads else (step.writes,)
    return [part[place] for part in touched if place in part]


def _where(execution: Execution, place: Place, one: Step, other: Step) -> str:
    """A cell that the two dispute, in words."""
    mine, its = ({int(n) for cells in _cells(step, place, reads=True) for n in cells} for step in (one, other))
    written = {int(n) for step in (one, other) for cells in _cells(step, place, reads=False) for n in cells}
    return execution.describe(place, sorted(mine & its & written))
