"""Replays: the operations of a trace as calls, recorded as CUDA graphs where that can be.

A step that never waits on the host is one graph. With messages that the host moves, what is enqueued on a lane between
two points that other lanes or the host wait for is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from taskflow.machine.device import Lane
from taskflow.machine.device.graph import captured
from taskflow.machine.trace.operation import Call, Operation

WORTH = 2  # launches that are worth a graph


def calls(operations: Sequence[Operation], lanes: tuple[Lane, Lane], *, graphs: bool) -> list[Call]:
    """What to call, in order. Begins when lane 0 has done what was enqueued there; what comes on lane 0 afterwards
    comes after all of it.
    """
    plain, urgent = lanes
    if not graphs or not plain.asynchronous:
        return _joined([operation.call for operation in operations], lanes)
    if all(operation.lane is not None and operation.fixed for operation in operations):
        whole = [operation.call for operation in operations]
        return [captured(plain, [urgent], whole)] if len(whole) >= WORTH else _joined(whole, lanes)
    return _joined(list(_segments(operations, lanes)), lanes)


def _joined(inner: list[Call], lanes: tuple[Lane, Lane]) -> list[Call]:
    """The urgent lane follows the plain one at the start, and the plain one the urgent one at the end."""
    plain, urgent = lanes
    if urgent is plain:
        return inner
    fork, join = plain.event(), urgent.event()
    return [
        plain.recorder(fork), urgent.waiter(fork), *inner, urgent.recorder(join), plain.waiter(join)
    ]  # fmt: skip


def _segments(operations: Sequence[Operation], lanes: tuple[Lane, Lane]) -> Iterator[Call]:
    """Runs of launches on a lane as graphs; events, and what the host does, between them."""
    runs: dict[int, list[Call]] = {0: [], 1: []}

    def closed(number: int) -> Iterator[Call]:
        run, runs[number] = runs[number], []
        lane = lanes[number]
        yield from [captured(lane, [], run)] if len(run) >= WORTH else run

    for operation in operations:
        if operation.lane is not None and operation.fixed and operation.kind not in ("record", "wait"):
            runs[operation.lane].append(operation.call)
            continue
        for number in (0, 1) if operation.lane is None else (operation.lane,):
            yield from closed(number)
        yield operation.call
    for number in (0, 1):
        yield from closed(number)
