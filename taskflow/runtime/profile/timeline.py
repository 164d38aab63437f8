"""Timelines of the replays of a block. Plain data that can be sent anywhere.

Sets of times are sorted, disjoint intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from taskflow.runtime.tasks import Claim, Compute, Grant, TaskGraph

Track = Literal["host", "plain", "urgent"]
LANES: tuple[Track, Track] = ("plain", "urgent")

Category = Literal["compute", "copy", "communication"]
KINDS: dict[Category, frozenset[str]] = {
    "compute": frozenset({"compute"}),
    "copy": frozenset({"pack", "unpack", "copy"}),
    "communication": frozenset({"send", "post", "receive", "free", "reduce", "signal", "await"}),
}
LASTING = frozenset().union(*KINDS.values())  # kinds of operations that take time, unlike events
Interval = tuple[int, int]  # times [start, end)


@dataclass(frozen=True, slots=True)
class Span:
    """An operation from `start` to `end`, in nanoseconds since the epoch, on the host or on a lane of its device."""

    start: int
    end: int
    track: Track
    kind: str
    nodes: tuple[int, ...]

    @property
    def length(self) -> int:
        """Duration in nanoseconds."""
        return self.end - self.start

    @property
    def category(self) -> Category | None:
        """Category, or None for events, which have no duration."""
        return next((name for name, kinds in KINDS.items() if self.kind in kinds), None)


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node of a task graph, as recorded in a profile.

    `type` is compute, grant, claim, send, receive, refresh or allreduce. `phase` is the task that it serves; a message
    belongs to the task whose results it carries. `message`: source, target, number.
    """

    name: str
    type: str
    phase: str
    part: str
    message: tuple[int, int, int] | None
    waits: tuple[int, ...]

    @property
    def label(self) -> str:
        """Common name of all vertices of a kind."""
        return f"{self.phase} {self.part}" if self.part else f"{self.type} ({self.phase})"


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay of the graph with number `graph`. A `fresh` one is the first, or in one step with a first one, and not
    typical.

    The host began at `start` and finished at `issued`, with `calls` calls. The device finished at `end`.
    """

    program: str
    graph: int
    fresh: bool
    start: int
    end: int
    issued: int
    calls: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All passes of a block in a profile.

    `accuracy` of the clocks, in nanoseconds: `host` of this process relative to its host's time of day, `device` of the
    device relative to the host (0 if the host does the work). `stamp` is the time that a mark takes on a device.
    """

    block: int
    host: str
    process: int
    device: str
    accuracy: Mapping[str, int]
    graphs: tuple[tuple[Vertex, ...], ...]
    passes: tuple[Replay, ...]

    @property
    def typical(self) -> tuple[Replay, ...]:
        """The passes that are not fresh."""
        return tuple(p for p in self.passes if not p.fresh)

    def stretches(self) -> list[list[Replay]]:
        """Return the typical passes, split where a fresh one, with an analysis, came between."""
        stretches: list[list[Replay]] = [[]]
        for p in self.passes:
            if not p.fresh:
                stretches[-1].append(p)
            elif stretches[-1]:
                stretches.append([])
        return [stretch for stretch in stretches if stretch]


def sketch(graph: TaskGraph) -> tuple[Vertex, ...]:
    """Return the nodes of the graph of one block as vertices."""
    vertices = []
    for node, waits, phase in zip(graph.nodes, graph.waits, _phases(graph), strict=True):
        part = node.part if isinstance(node, Compute) else ""
        kind, message = type(node).__name__.lower(), getattr(node, "message", None)
        identity = None if message is None else (message.source, message.target, message.number)
        vertices.append(Vertex(str(node), kind, phase, part, identity, tuple(sorted(waits))))
    return tuple(vertices)


def _phases(graph: TaskGraph) -> list[str]:
    """Return the task that each node serves. Transfers before the first task of a pass belong to the last one."""
    tasks = {n: node.launch.task.name for n, node in enumerate(graph.nodes) if isinstance(node, Compute)}
    phases, phase = [], next(reversed(tasks.values()), "nothing")
    for n, node in enumerate(graph.nodes):
        phase = tasks.get(n, phase)
        coming = next((tasks[m] for m in sorted(tasks) if m > n), phase) if isinstance(node, Grant | Claim) else phase
        phases.append(coming)
    return phases


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return all times in at least one of the intervals."""
    disjoint: list[Interval] = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if disjoint and start <= disjoint[-1][1]:
            disjoint[-1] = disjoint[-1][0], max(end, disjoint[-1][1])
        else:
            disjoint.append((start, end))
    return disjoint


def common(one: Iterable[Interval], other: Iterable[Interval]) -> list[Interval]:
    """Return all times in both. Both are sorted and disjoint."""
    overlaps: list[Interval] = []
    ones, others = list(one), list(other)
    i = j = 0
    while i < len(ones) and j < len(others):
        start, end = max(ones[i][0], others[j][0]), min(ones[i][1], others[j][1])
        if start < end:
            overlaps.append((start, end))
        if ones[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return overlaps


def length(intervals: Iterable[Interval]) -> int:
    """Return the total length of disjoint intervals."""
    return sum(end - start for start, end in intervals)
