"""Mapping: the execution of the graph. Correctness never depends on it.

Trials find the best overlap for a stretch of a program by timing every way in a running program. All ways give bitwise
identical results, so no pass is wasted. The first passes of a stretch are timed, a few in each way, and the slowest
block counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from taskflow.runtime.machine.trace.staging import Staging
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import AllReduce, Claim, Compute, Grant, Launch, Message, Node, Receive, Refresh, Send

Overlap = Literal["auto", "none", "comm", "full"]
SMALL = 1 << 16  # cells of a block below which a second launch costs more than the transfer that it hides
WARM, SAMPLES = 2, 5  # passes in each way that are ignored, and timed
GAIN = 0.01  # relative gain that another way must have
KINDS = 8  # most tasks that are tried uncut, sequentially


@dataclass(frozen=True)
class Mapper:
    """Placement of tasks on streams and in time, after the three strategies of Jacobsen & Senocak (2013, section 4.2).

    - `none`: whole launches, then the exchange (4.2.1).
    - `comm`: edges first, on one stream. Messages travel while the middle is computed (4.2.2).
    - `full`: edges, packing and unpacking have a separate stream (4.2.3).
    - `auto`: each stretch of a program is timed in every way, and then done in the best.

    Launches of the tasks named in `whole` are not cut into edge and middle. With a `staging` in host memory no message
    is copied directly: this measures what other ways gain.
    """

    overlap: Overlap = "auto"
    cache: int = 32 << 20  # bytes in flight in chained launches of a CPU block; 0: no chains
    graphs: bool = True  # record passes on a GPU as CUDA graphs
    whole: frozenset[str] = frozenset()
    staging: Staging = "device"
    debug: bool = False  # invalid ghost cells are NaN, and blocks compare their programs at every pass

    def ways(self, *, alone: bool, streams: bool) -> list[Mapper]:
        """Return the candidates of `auto`, on a device with or without streams. A single block has one."""
        if self.overlap != "auto":
            return [self]
        names: tuple[Overlap, ...] = ("none",) if alone else ("none", "comm", "full") if streams else ("none", "comm")
        return [replace(self, overlap=name) for name in names]

    def decide(self, partition: Partition) -> Mapper:
        """Return the mapper with a guess for `auto`, based on the largest block."""
        if self.overlap != "auto":
            return self
        large = max(piece.volume for piece in partition.parts) > SMALL
        return replace(self, overlap="full" if large and len(partition) > 1 else "none")

    @property
    def split(self) -> bool:
        """True if launches whose results are sent are cut into edge and middle."""
        return self.overlap != "none"

    def cuts(self, launches: Sequence[Launch]) -> list[int]:
        """Return the positions of the launches that are cut if their results are sent."""
        return [n for n, launch in enumerate(launches) if self.split and launch.task.name not in self.whole]

    def urgent(self, nodes: Sequence[Node], direct: Callable[[Message], bool]) -> list[bool]:
        """Return, for each node of a block in program order, whether it belongs on the urgent stream. `direct` messages
        need no buffers.

        Direct grants before a launch that is not cut here stay on the plain stream, as do receives of the same messages
        if the next launch is not cut or none follows. Concurrent with another launch on a full GPU, they would keep its
        thread blocks waiting.
        """
        granted, awaited, part = set[Message](), set[Message](), ""
        for node in reversed(nodes):
            if isinstance(node, Compute):
                part = node.part
            elif isinstance(node, Grant) and part == "whole" and direct(node.message):
                granted.add(node.message)
            elif isinstance(node, Receive) and part in ("", "whole"):
                awaited.add(node.message)
        in_line: dict[type, set[Message]] = {Grant: granted, Receive: granted & awaited}
        return [self.overlap == "full" and _urgent(node, in_line.get(type(node), ())) for node in nodes]

    def priority(self, node: Node) -> int:
        """Return the rank of a node among ready ones, lowest first. Edges precede the messages that depend on them, so
        that all are sent together. Nodes that the host may have to wait for come last, in program order.
        """
        if not self.split:
            return -1 if isinstance(node, Grant) else 0
        if isinstance(node, Compute):
            return {"edge": 0, "whole": 3, "middle": 4}[node.part]
        return {Grant: 1, Send: 1, Claim: 2, Refresh: 2, AllReduce: 5, Receive: 5}[type(node)]


def _urgent(node: Node, in_line: Collection[Message]) -> bool:
    if isinstance(node, Grant | Receive):
        return node.message not in in_line
    return isinstance(node, Claim | Send | Refresh) or getattr(node, "part", "") == "edge"


Search = Generator[Mapper, float, Mapper]


def search(ways: Sequence[Mapper], cut: Callable[[Mapper], Collection[str]]) -> Search:
    """Yield ways to be timed, receive their times in seconds, and return the best.

    First the `ways`. Then, if the best cuts launches, each task in `cut(best)` is tried uncut.
    """
    best, least = ways[0], (yield ways[0])
    for way in ways[1:]:
        seconds = yield way
        if seconds < (1 - GAIN) * least:
            best, least = way, seconds
    for name in sorted(cut(best))[:KINDS]:
        way = replace(best, whole=best.whole | {name})
        seconds = yield way
        if seconds < (1 - GAIN) * least:
            best, least = way, seconds
    return best


class Trial:
    """The trial of one stretch, over immediately if it has one way. `slowest` returns the maximum over all blocks."""

    def __init__(
        self, ways: Sequence[Mapper], cut: Callable[[Mapper], Collection[str]], slowest: Callable[[float], float]
    ) -> None:
        self._search, self._slowest = search(ways, cut), slowest
        self.way, self.over = next(self._search), len(ways) == 1
        self._times: list[float] = []

    def note(self, seconds: float) -> bool:
        """Record the time of a pass in the present way, in seconds, and return whether the trial is over."""
        self._times.append(seconds)
        if len(self._times) < WARM + SAMPLES:
            return False
        worst = self._slowest(median(self._times[WARM:]))
        self._times = []
        try:
            self.way = self._search.send(worst)
        except StopIteration as end:
            self.way, self.over = end.value, True
        return self.over
