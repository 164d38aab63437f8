"""Where the time went: compute, copy, communication and the rest, phase by phase (Jacobsen & Senocak 2013, figure 8).

Every moment belongs to one operation: to one that computes where one does, else to one that copies, else to one that
communicates; of equals, to the one that began first. What is hidden under computing therefore does not count, and the
shares add up to the whole time.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from taskflow.machine.profile.timeline import COMMUNICATION, COMPUTE, COPY, Pass, Span, Timeline, Vertex

Category = Literal["compute", "copy", "communication"]
CATEGORIES: tuple[Category, ...] = ("compute", "copy", "communication")
KINDS = {"compute": COMPUTE, "copy": COPY, "communication": COMMUNICATION}
Share = tuple[str, Category]  # phase and category


def category(span: Span) -> Category | None:
    """What an operation is; None where it has no length of its own."""
    return next((name for name in CATEGORIES if span.kind in KINDS[name]), None)


def shares(timeline: Timeline) -> tuple[Counter[Share], int]:
    """Nanoseconds by phase and category over the typical passes of a block, and nanoseconds of all of them together,
    whatever was done or not done.
    """
    found: Counter[Share] = Counter()
    whole = 0
    for stretch in timeline.stretches():
        found.update(exclusive(_claims(timeline, stretch)))
        whole += max(p.end for p in stretch) - stretch[0].start
    return found, whole


def exclusive(claims: Iterable[tuple[Span, Share]]) -> Counter[Share]:
    """The time of each share, every moment given to one of the spans that claim it."""
    found: Counter[Share] = Counter()
    waiting = sorted(claims, key=lambda claim: claim[0].start)
    running: list[tuple[int, int, int, Share]] = []  # heap: rank, start, end, share
    now, n = 0, 0
    while n < len(waiting) or running:
        if not running:
            now = max(now, waiting[n][0].start)
        while n < len(waiting) and waiting[n][0].start <= now:
            span, share = waiting[n]
            heapq.heappush(running, (CATEGORIES.index(share[1]), span.start, span.end, share))
            n += 1
        while running and running[0][2] <= now:
            heapq.heappop(running)
        if running:
            until = min(running[0][2], waiting[n][0].start if n < len(waiting) else running[0][2])
            found[running[0][3]] += until - now
            now = until
    return found


def _claims(timeline: Timeline, stretch: Sequence[Pass]) -> Iterable[tuple[Span, Share]]:
    for p in stretch:
        for span in p.spans:
            kind = category(span)
            if kind is not None:
                yield span, (_phase(timeline.graphs[p.graph], span), kind)


def _phase(graph: Sequence[Vertex], span: Span) -> str:
    return graph[span.nodes[0]].phase if span.nodes else "nothing"
