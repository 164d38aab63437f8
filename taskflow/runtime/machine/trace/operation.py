"""Operations: what a replay does, one after the other, and the list in which those of messages are joined.

What messages need at one moment on one lane becomes as few launches as can be: a wait for all, one copy, one signal.
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
    """One call of a replay.

    `kind` says what it is, `nodes` which nodes of the task graph it belongs to. On `lane` 0 (plain) or 1 (urgent) it is
    enqueued, and done in the order of the lane; `None`: the host does it, and is done with it when it returns.
    `fixed`: it enqueues the same every time and never waits on the host, so that it can be recorded in a CUDA graph.

    compute, copy (within the block), pack, unpack: work on cells. The host hands a message to the channel (send), says
    where one is to arrive, in a buffer that has been unpacked (post), waits for one (receive), waits until a buffer may
    be packed again (free). reduce: folds over all blocks, on the host or on a lane. record, wait: an event that stands
    for the operations of `nodes` on their lane, and a lane that waits for it. Between blocks that see each other's
    memory, on a lane: pack is a copy into their ghost cells; signal posts flags: that ghost cells are granted (nodes:
    grants) or filled (sends); await waits for flags of others (nodes: claims, receives). stamp: a profiler notes the
    time, on the lane.
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
    """Operations in order, those of messages joined where nothing stands between them on their lane.

    Waits join waits, and after them what they let in is unpacked together, what goes out is copied together, and
    signals join signals: a signal may come later, never earlier, and so may nothing that waits. `bind` makes the calls
    of one kind, `send` those of copies with the waits right before them and the signals right behind them; it also gets
    the nodes that are copied.
    """

    def __init__(self, bind: Bind, send: Send) -> None:
        self._bind, self._send = bind, send
        self._entries: list[Operation | _Joint] = []
        self._group: dict[int, list[_Joint]] = {}  # per lane: the joints at its end

    def add(self, operations: Iterable[Operation]) -> None:
        """Add operations at the end, as they are."""
        for operation in operations:
            self._entries.append(operation)
            if operation.lane is None:
                self._group.clear()
            else:
                self._group.pop(operation.lane, None)

    def join(self, kind: Kind, lane: int, node: int, items: Iterable[Any]) -> None:
        """Add items at the end, or to those of their kind that stand there already."""
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
        """All operations, bound."""
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
        """The calls of copies with a signal right behind them on their lane, and of these and of waits right before."""
        calls: dict[_Joint, list[Call]] = {}
        runs: dict[int, list[_Joint]] = {}  # per lane: the joints since something else was there
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
    """Stands for an operation that is done with the one before or after."""
