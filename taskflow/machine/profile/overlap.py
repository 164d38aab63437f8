"""Overlap: how much of the time that exchanges take is hidden under computing.

An exchange of a block is what moves at one moment of the program, to and from all neighbours. It lasts from the
beginning of its first packing (where nothing is sent: from the end of what was computed before it, the middle left out)
to the end of its last unpacking. Computing of the same block within that time hides it; the rest is exposed: only that
costs anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taskflow.machine.profile.intervals import Interval, common, length, union
from taskflow.machine.profile.timeline import COMPUTE, Pass, Timeline, Vertex

EARLY = ("free", "post")  # what the host does for a transfer before it can begin
TRANSFERS = ("send", "receive", "refresh")


@dataclass(frozen=True)
class Overlap:
    """Nanoseconds of exchanges, and how many of them were hidden."""

    exchange: int
    hidden: int

    @property
    def fraction(self) -> float | None:
        """The hidden share; None where nothing was exchanged."""
        return self.hidden / self.exchange if self.exchange else None


def overlap(timeline: Timeline) -> Overlap:
    """Over the typical passes of a block."""
    computing = union((s.start, s.end) for p in timeline.passes for s in p.spans if s.kind in COMPUTE)
    windows = [window for p in timeline.typical for window in exchanges(p, timeline.graphs[p.graph])]
    return Overlap(length(windows), sum(length(common([window], computing)) for window in windows))


def exchanges(p: Pass, graph: Sequence[Vertex]) -> list[Interval]:
    """When each exchange of a pass began and ended."""
    found = []
    for first, last in _runs(graph):
        moving = [(s, graph[n].type) for s in p.spans for n in s.nodes if first <= n < last and s.kind not in EARLY]
        sent = [s for s, kind in moving if kind == "send"]
        received = [s for s, kind in moving if kind == "receive"]
        if sent or received:
            begin = min((s.start for s in sent), default=_ready(p, graph, first))
            found.append((begin, max(s.end for s in sent + received)))
    return found


def _runs(graph: Sequence[Vertex]) -> Iterator[tuple[int, int]]:
    """The vertices [first, last) of each exchange: what moves at one moment stands together."""
    first = 0
    while first < len(graph):
        last = first
        while last < len(graph) and graph[last].type in TRANSFERS:
            last += 1
        if last > first:
            yield first, last
        first = max(last, first + 1)


def _ready(p: Pass, graph: Sequence[Vertex], first: int) -> int:
    """The end of what was computed before an exchange and is not a middle."""
    before = (s.end for s in p.spans if s.kind in COMPUTE and s.nodes[0] < first and graph[s.nodes[0]].part != "middle")
    return max(before, default=p.start)
