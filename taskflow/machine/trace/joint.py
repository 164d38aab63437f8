"""Joints: what messages need at one moment on one lane, as few launches: a wait for all, one copy, one signal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from taskflow.machine.trace.operation import Call, Kind, Operation

RANK: dict[Kind, int] = {"await": 0, "pack": 1, "signal": 2}
Bind = Callable[[Sequence[Any], int], list[Call]]


@dataclass(eq=False)
class _Joint:
    """Operations of one kind that become one."""

    kind: Kind
    lane: int
    nodes: dict[int, None] = field(default_factory=dict)
    items: list[Any] = field(default_factory=list)


class Listing:
    """Operations in order, those of messages joined where nothing stands between them on their lane.

    Waits join waits, and after them copies join copies and signals join signals: a signal may come later, never
    earlier, and so may nothing that waits.
    """

    def __init__(self, bind: Mapping[Kind, Bind]) -> None:
        self._bind = bind
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
        if kind == "await" and any(joint.kind != "await" for joint in group):
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
        for entry in self._entries:
            if isinstance(entry, Operation):
                found.append(entry)
            else:
                nodes = tuple(entry.nodes)
                calls = self._bind[entry.kind](entry.items, entry.lane)
                found += [Operation(call, entry.kind, nodes, entry.lane) for call in calls]
        return found
