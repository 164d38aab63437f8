"""Mapping: how the graph is executed. Correctness never depends on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from taskflow.tasks import AllReduce, Claim, Compute, Grant, Node, Receive, Refresh, Send

Overlap = Literal["auto", "none", "comm", "full"]
SMALL = 1 << 16  # cells of a block below which a second launch costs more than the transfer that it hides


@dataclass(frozen=True)
class Mapper:
    """Placement of tasks on streams and in time, after the three strategies of Jacobsen & Senocak (2013, section 4.2).

    `none`: whole launches, then the exchange (4.2.1). `comm`: edges first, on one stream; messages travel while the
    middle is computed (4.2.2). `full`: edges, packing and unpacking have a stream of their own beside the middle's
    (4.2.3). `auto` is `full` for blocks of more than `SMALL` cells with neighbours, else `none`.
    """

    overlap: Overlap = "auto"
    cache: int = 32 << 20  # bytes that the launches of a CPU block keep in flight together; 0: each does all its cells
    graphs: bool = True  # on a GPU a pass is a CUDA graph, or several
    debug: bool = False  # ghost cells without valid values are NaN, and blocks compare their programs at every pass

    def decide(self, cells: int, neighbours: int) -> Mapper:
        """The mapper with `auto` decided for a block of so many cells and neighbours. All blocks have to decide
        alike.
        """
        if self.overlap != "auto":
            return self
        return replace(self, overlap="full" if neighbours and cells > SMALL else "none")

    @property
    def split(self) -> bool:
        """Whether launches whose results travel are cut into edge and middle."""
        return self.overlap != "none"

    def urgent(self, node: Node) -> bool:
        """Whether a node belongs on the stream for what others wait for."""
        return self.overlap == "full" and (
            isinstance(node, Grant | Claim | Send | Receive | Refresh) or getattr(node, "part", "") == "edge"
        )

    def priority(self, node: Node) -> int:
        """Which of the nodes that are ready comes first: the lowest. What waits for other blocks comes last, in program
        order. Edges come before what they let travel: so all of it travels together.
        """
        if not self.split:
            return -1 if isinstance(node, Grant) else 0
        if isinstance(node, Compute):
            return {"edge": 0, "whole": 3, "middle": 4}[node.part]
        return {Grant: 1, Send: 1, Refresh: 2, Claim: 5, AllReduce: 5, Receive: 5}[type(node)]
