"""Joints: what messages need at one moment on one lane, as few launches: a wait for all, one copy, one signal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from taskflow.machine.device import Call
from taskflow.machine.trace.operation import Kind, Operation

RANK: dict[Kind, int] = {"await": 0, "unpack": 1, "pack": 2, "signal": 3}
Bind = Callable[[Sequence[Any], int], list[Call]]
Send = Callable[[Sequence[Any], Sequence[Any], int], list[Call]]


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
    of one kind, `send` those of copies with the signals that follow them.
    """

    def __init__(self, bind: Mapping[Kind, Bind], send: Send) -> None:
        self._bind, self._send = bind, send
        self._entries: list[Operation | _Joint] = []
        self._group: dict[int, list[_Joint]] = {}  # per lane: the joints at its end

    def add(self, operations: Iterable[Operation]) -> None:
        """At the end, as they are."""
        for operation in operations:
            self._entries.append(operation)
            if operation.lane is None:
                self._group.clear()
            else:
                self._group.pop(operation.lane, None)

    def join(self, kind: Kind, lane: int, node: int, items: Iterable[Any]) -> None:
        """At the end, or together with what is there already."""
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
        """All of them, bound."""
        found: list[Operation] = []
        signalled: _Joint | None = None  # by what copies its cells
        for n, entry in enumerate(self._entries):
            if isinstance(entry, Operation):
                found.append(entry)
                continue
            follower = self._entries[n + 1] if n + 1 < len(self._entries) else None
            if entry is signalled:
                calls: list[Call] = [_nothing]
            elif entry.kind == "pack" and _signals(follower, entry.lane):
                signalled, calls = follower, self._send(entry.items, follower.items, entry.lane)
            else:
                calls = self._bind[entry.kind](entry.items, entry.lane)
            found += [Operation(call, entry.kind, tuple(entry.nodes), entry.lane) for call in calls]
        return found


def _signals(entry: Operation | _Joint | None, lane: int) -> TypeGuard[_Joint]:
    return isinstance(entry, _Joint) and entry.kind == "signal" and entry.lane == lane


def _nothing() -> None:
    """What has been done with the operation before."""
