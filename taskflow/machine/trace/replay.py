"""Replays: the operations of a trace as calls, recorded as CUDA graphs where that can be.

A pass that never waits on the host is one graph. With messages that the host moves, what is enqueued on a lane between
two points that the other lane or the host waits for is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from taskflow.machine.device import Call, Lane
from taskflow.machine.device.graph import captured
from taskflow.machine.trace.operation import Operation

WORTH = 2  # launches that are worth a graph


def calls(operations: Sequence[Operation], lanes: tuple[Lane, Lane], *, graphs: bool) -> list[Call]:
    """What to call, in order. It begins when all is done that is enqueued on lane 0, and what is enqueued there
    afterwards comes after all of it.
    """
    plain, urgent = lanes
    graphs = graphs and plain.asynchronous
    whole = graphs and all(operation.lane is not None and operation.fixed for operation in operations)
    inner = list(_segments(operations, lanes)) if graphs and not whole else [operation.call for operation in operations]
    found = inner if urgent is plain else _joined(inner, lanes)
    return [captured(plain, found)] if whole and len(found) >= WORTH else found


def _joined(inner: list[Call], lanes: tuple[Lane, Lane]) -> list[Call]:
    """The urgent lane follows the plain one at the start, and the plain one the urgent one at the end."""
    plain, urgent = lanes
    fork, join = plain.event(), urgent.event()
    return [plain.recorder(fork), urgent.waiter(fork), *inner, urgent.recorder(join), plain.waiter(join)]


def _segments(operations: Sequence[Operation], lanes: tuple[Lane, Lane]) -> Iterator[Call]:
    """Runs of launches on a lane as graphs; events, and what the host does, between them."""
    runs: dict[int, list[Call]] = {0: [], 1: []}

    def closed(number: int) -> list[Call]:
        run, runs[number] = runs[number], []
        return [captured(lanes[number], run)] if len(run) >= WORTH else run

    for operation in operations:
        if operation.lane is not None and operation.fixed and operation.kind not in ("record", "wait"):
            runs[operation.lane].append(operation.call)
            continue
        # Where the host may wait, nothing is held back: others may wait for it before they do what the host waits for.
        for number in (0, 1) if operation.lane is None or not operation.fixed else (operation.lane,):
            yield from closed(number)
        yield operation.call
    for number in (0, 1):
        yield from closed(number)
