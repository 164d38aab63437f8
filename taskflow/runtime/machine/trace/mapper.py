"""Mapping: how the graph is executed. Correctness never depends on it.

Trials find which way to overlap suits a stretch of a program, by doing it in every way. All ways give the same results
to the last bit, so a run is its own measurement: the first passes of a stretch are timed, a few in each way, and the
slowest block counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import AllReduce, Claim, Compute, Grant, Launch, Message, Node, Receive, Refresh, Send

Overlap = Literal["auto", "none", "comm", "full"]
SMALL = 1 << 16  # cells of a block below which a second launch costs more than the transfer that it hides
WARM, SAMPLES = 2, 5  # passes in each way that do not count, and that do
GAIN = 0.01  # by how much another way has to be faster
KINDS = 8  # tasks that are tried uncut, one after the other, at most


@dataclass(frozen=True)
class Mapper:
    """Placement of tasks on streams and in time, after the three strategies of Jacobsen & Senocak (2013, section 4.2).

    `none`: whole launches, then the exchange (4.2.1). `comm`: edges first, on one stream; messages travel while the
    middle is computed (4.2.2). `full`: edges, packing and unpacking have a stream of their own beside the middle's
    (4.2.3). `auto`: each stretch of a program is timed in every way, and done in the best from then on. Launches of the
    tasks named in `whole` are not cut into edge and middle.
    """

    overlap: Overlap = "auto"
    cache: int = 32 << 20  # bytes that the launches of a CPU block keep in flight together; 0: each does all its cells
    graphs: bool = True  # on a GPU a pass is a CUDA graph, or several
    whole: frozenset[str] = frozenset()
    debug: bool = False  # ghost cells without valid values are NaN, and blocks compare their programs at every pass

    def ways(self, *, alone: bool, streams: bool) -> list[Mapper]:
        """The ways of which `auto` chooses, on a device with or without streams; without other blocks there is one."""
        if self.overlap != "auto":
            return [self]
        names: tuple[Overlap, ...] = ("none",) if alone else ("none", "comm", "full") if streams else ("none", "comm")
        return [replace(self, overlap=name) for name in names]

    def decide(self, partition: Partition) -> Mapper:
        """The mapper with what `auto` will probably become on these blocks, of which the largest counts."""
        if self.overlap != "auto":
            return self
        large = max(piece.volume for piece in partition.parts) > SMALL
        return replace(self, overlap="full" if large and len(partition) > 1 else "none")

    @property
    def split(self) -> bool:
        """Whether launches whose results travel are cut into edge and middle."""
        return self.overlap != "none"

    def cuts(self, launches: Sequence[Launch]) -> list[int]:
        """The positions of the launches that are cut where their results travel."""
        return [n for n, launch in enumerate(launches) if self.split and launch.task.name not in self.whole]

    def urgent(self, nodes: Sequence[Node], direct: Callable[[Message], bool]) -> list[bool]:
        """For each node of a block, in program order, whether it belongs on the stream for what others wait for;
        `direct` messages need no buffers.

        Not what grants ghost cells before a launch that stays whole here, nor what waits for them behind it, unless for
        the edge of another one: beside another launch, a GPU that is full would keep thread blocks of that one waiting
        until it has room for the grant.
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
        """The rank of a node among those that are ready, the lowest first. Edges come before what they let travel, so
        that all of it travels together; what the host may have to wait for comes last, in program order.
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
    """Yields ways to be timed, is sent their seconds, and returns the best.

    First the `ways`; then, where the best of them cuts launches, each task that is `cut` is tried uncut.
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
    """The trial of one stretch, over at once if there is one way. `slowest` gives the largest number of all blocks."""

    def __init__(
        self, ways: Sequence[Mapper], cut: Callable[[Mapper], Collection[str]], slowest: Callable[[float], float]
    ) -> None:
        self._search, self._slowest = search(ways, cut), slowest
        self.way, self.over = next(self._search), len(ways) == 1
        self._times: list[float] = []

    def note(self, seconds: float) -> bool:
        """Note the seconds of a pass in the present way; return whether the trial is over now."""
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
