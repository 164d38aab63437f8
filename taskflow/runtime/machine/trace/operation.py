"""Operations: the sequential steps of a replay, and the list that joins operations of messages.

All messages at one moment on one lane share the fewest possible launches: one wait, one copy, one signal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from taskflow.runtime.machine.device import Call

Kind = Literal[
    "compute", "copy", "pack", "unpack", "send", "post", "receive", "free", "reduce", "record", "wait", "signal",
    "await", "stamp",
]  # fmt: skip

RANK: dict[Kind, int] = {"await": 0, "unpack": 1, "pack": 2, "signal": 3}
Bind = Callable[[Kind, Sequence[Any], int], list[Call]]
Send = Callable[[Sequence[Any], Sequence[Any], Sequence[Any], int, Collection[int]], list[Call]]


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One call of a replay, which does `nodes` of the task graph.

    On `lane` 0 (plain) or 1 (urgent) it is enqueued, and executed in the order of the lane. `None`: the host does it
    before the call returns. `fixed`: it enqueues the same work every time and never waits on the host, so a CUDA graph
    can record it.

    Kinds:

    - compute, copy (within the block), pack, unpack: work on cells.
    - send: the host passes a message to the channel.
    - post: the host posts the receive of a message into an unpacked buffer.
    - receive, free: the host waits for a message, or until a buffer may be packed again.
    - reduce: folds over all blocks, on the host or on a lane.
    - record, wait: records an event after the operations of `nodes` on their lane; lets a lane wait for it.
    - stamp: a profiler records the time, on the lane.

    For direct messages, on a lane: pack copies into the ghost cells of the other block, signal posts flags that ghost
    cells are granted (nodes: grants) or filled (sends), await waits for flags of others (nodes: claims, receives).
    """

    call: Call
    kind: Kind
    nodes: tuple[int, ...]
    lane: int | None = None
    fixed: bool = True


@dataclass(eq=False)
class _Joint:
    """Operations of one kind that become one."""

    kind: Kind
    lane: int
    nodes: dict[int, None] = field(default_factory=dict)
    items: list[Any] = field(default_factory=list)


class Listing:
    """Operations in order. Operations of messages are joined if nothing separates them on their lane.

    Waits are joined, then the unpacking that depends on them, then outgoing copies, then signals. A signal may move
    later but never earlier, and neither may anything that waits. `bind` makes the calls of one kind. `send` makes those
    of copies with the waits right before and the signals right after them; it also gets the nodes of the copies.
    """

    def __init__(self, bind: Bind, send: Send) -> None:
        self._bind, self._send = bind, send
        self._entries: list[Operation | _Joint] = []
        self._group: dict[int, list[_Joint]] = {}  # per lane: the joints that end it

    def add(self, operations: Iterable[Operation]) -> None:
        """Append operations unchanged."""
        for operation in operations:
            self._entries.append(operation)
            if operation.lane is None:
                self._group.clear()
            else:
                self._group.pop(operation.lane, None)

    def join(self, kind: Kind, lane: int, node: int, items: Iterable[Any]) -> None:
        """Append items, or add them to an adjacent operation of the same kind."""
        group = self._group.setdefault(lane, [])
        if kind == "await" and any(RANK[joint.kind] > RANK["unpack"] for joint in group):
            group.clear()
        joint = next((joint for joint in group if joint.kind == kind), None)
        if joint is None:
            joint = _Joint(kind, lane)
            after = next((other for other in group if RANK[other.kind] > RANK[kind]), None)
            self._entries.insert(len(self._entries) if after is None else self._entries.index(after), joint)
            group.append(joint)
        joint.nodes[node] = None
        joint.items += items

    def operations(self) -> list[Operation]:
        """Return all operations, bound."""
        sends = self._sends()
        bound: list[Operation] = []
        for entry in self._entries:
            if isinstance(entry, Operation):
                bound.append(entry)
            else:
                calls = sends[entry] if entry in sends else self._bind(entry.kind, entry.items, entry.lane)
                bound += [Operation(call, entry.kind, tuple(entry.nodes), entry.lane) for call in calls]
        return bound

    def _sends(self) -> dict[_Joint, list[Call]]:
        """Return the calls of copies that a signal follows directly on their lane, and of these signals and preceding
        waits.
        """
        calls: dict[_Joint, list[Call]] = {}
        runs: dict[int, list[_Joint]] = {}  # per lane: the joints since the last other operation
        for entry in self._entries:
            if isinstance(entry, Operation):
                runs = {lane: run for lane, run in runs.items() if entry.lane not in (None, lane)}
                continue
            run = runs.setdefault(entry.lane, [])
            run.append(entry)
            if [joint.kind for joint in run[-2:]] == ["pack", "signal"]:
                waits, copy = [joint for joint in run[-3:-2] if joint.kind == "await"], run[-2]
                calls |= {joint: [nothing] for joint in (*waits, entry)}
                awaited = [item for joint in waits for item in joint.items]
                calls[copy] = self._send(awaited, copy.items, entry.items, copy.lane, copy.nodes)
        return calls


def nothing() -> None:
    """Placeholder for an operation that is fused with an adjacent one."""
