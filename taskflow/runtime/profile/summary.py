"""The summary of a profile: what all blocks' timelines say together, as plain numbers for the report of a run.

Shares say where the time went: compute, copy, communication and the rest, phase by phase (Jacobsen & Senocak 2013,
figure 8). Every moment belongs to one operation: to one that computes where one does, else to one that copies, else to
one that communicates; of equals, to the one that began first. What is hidden under computing therefore does not count,
and the shares add up to the whole time.

Overlap says how much of the time that exchanges take is hidden. An exchange of a block is what moves at one moment of
the program, to and from all neighbours. It lasts from the beginning of its first packing (where nothing is sent: from
the end of what was computed before it, the middle left out) to the end of its last unpacking. Computing of the same
block within that time hides it; the rest is exposed: only that costs anything.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from taskflow.runtime.profile.critical import critical_path
from taskflow.runtime.profile.timeline import (
    COMMUNICATION,
    COMPUTE,
    COPY,
    Interval,
    Replay,
    Span,
    Timeline,
    Vertex,
    common,
    length,
    union,
)

Category = Literal["compute", "copy", "communication"]
CATEGORIES: tuple[Category, ...] = ("compute", "copy", "communication")
KINDS = {"compute": COMPUTE, "copy": COPY, "communication": COMMUNICATION}
PhaseShare = tuple[str, Category]  # phase and category
EARLY = ("free", "post")  # what the host does for a transfer before it can begin
TRANSFERS = ("send", "receive", "refresh")
NS, US = 1e-9, 1e-3  # a nanosecond in seconds and in microseconds


def summarise(timelines: Sequence[Timeline]) -> dict[str, Any]:
    """Shares, overlap, host cost and critical path of a profile, of the timelines of all blocks in their order.

    `passes`: by program, typical ones. `seconds`: mean over the blocks, as are all seconds but those of the critical
    path. `shares` of that time: compute, copy, communication, and `rest` where none of them went on; `phases`: the same
    by task. `overlap`: seconds of exchanges, of them hidden under computing, and the `fraction` (None without any).
    `host`: calls per pass and microseconds that one costs (`call_microseconds`). `critical_path`: its seconds, its
    share of the time, and of which operations it consists. Without a typical pass only `passes` is there, empty.
    """
    times: Counter[PhaseShare] = Counter()
    whole = 0
    for timeline in timelines:
        mine, time = shares(timeline)
        times.update(mine)
        whole += time
    passes = Counter(p.program for p in timelines[0].typical) if timelines else Counter()
    if not whole:
        return {"passes": {}}
    exchange, hidden = (sum(times) for times in zip(*map(overlap, timelines), strict=True))
    path, duration = critical_path(timelines)
    return {
        "passes": dict(passes),
        "blocks": len(timelines),
        "seconds": whole * NS / len(timelines),
        "shares": {
            **{name: sum(ns for (_, kind), ns in times.items() if kind == name) / whole for name in CATEGORIES},
            "rest": 1 - times.total() / whole,
        },
        "phases": _phases(times, whole),
        "overlap": {
            "exchange_seconds": exchange * NS / len(timelines),
            "hidden_seconds": hidden * NS / len(timelines),
            "fraction": hidden / exchange if exchange else None,
        },
        "host": _host(timelines),
        "critical_path": {
            "seconds": path.total() * NS,
            "share": path.total() / duration,
            "operations": {label: ns / max(path.total(), 1) for label, ns in path.most_common()},
        },
        "accuracy_microseconds": {
            name: max(timeline.accuracy[name] for timeline in timelines) * US for name in timelines[0].accuracy
        },
    }


def _phases(times: Counter[PhaseShare], whole: int) -> dict[str, dict[str, float]]:
    """The phases, longest first."""
    phases: Counter[str] = Counter()
    for (phase, _), nanoseconds in times.items():
        phases[phase] += nanoseconds
    return {
        phase: {category: times[phase, category] / whole for category in CATEGORIES}
        for phase, _ in phases.most_common()
    }


def _host(timelines: Sequence[Timeline]) -> dict[str, float]:
    """Calls per pass, and what one costs the host: its time in a pass, without what it does or waits for itself."""
    passes = [p for timeline in timelines for p in timeline.typical]
    calls = sum(p.calls for p in passes)
    busy = sum(span.length for p in passes for span in p.spans if span.track == "host")
    cost = sum(p.issued - p.start for p in passes) - busy
    return {"calls_per_pass": calls / len(passes), "call_microseconds": cost / max(calls, 1) * US}


# ------------------------------------------------------------------------------------------- shares and overlap


def category(span: Span) -> Category | None:
    """Return the category of an operation; None where it has no length of its own."""
    return next((name for name in CATEGORIES if span.kind in KINDS[name]), None)


def shares(timeline: Timeline) -> tuple[Counter[PhaseShare], int]:
    """Return nanoseconds by phase and category in the typical passes of a block, and those of the passes themselves."""
    times: Counter[PhaseShare] = Counter()
    whole = 0
    for stretch in timeline.stretches():
        times.update(exclusive(_claims(timeline, stretch)))
        whole += max(p.end for p in stretch) - stretch[0].start
    return times, whole


def exclusive(claims: Iterable[tuple[Span, PhaseShare]]) -> Counter[PhaseShare]:
    """Return the time of each share, every moment given to one of the spans that claim it."""
    times: Counter[PhaseShare] = Counter()
    waiting = sorted(claims, key=lambda claim: claim[0].start)
    running: list[tuple[int, int, int, PhaseShare]] = []  # heap: rank, start, end, share
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
            times[running[0][3]] += until - now
            now = until
    return times


def _claims(timeline: Timeline, stretch: Sequence[Replay]) -> Iterable[tuple[Span, PhaseShare]]:
    for p in stretch:
        for span in p.spans:
            kind = category(span)
            if kind is not None:
                yield span, (timeline.graphs[p.graph][span.nodes[0]].phase if span.nodes else "nothing", kind)


def overlap(timeline: Timeline) -> tuple[int, int]:
    """Return the nanoseconds in which exchanges went on in the typical passes of a block, one or several at a time, and
    how many of them were hidden.
    """
    computing = union((s.start, s.end) for p in timeline.passes for s in p.spans if s.kind in COMPUTE)
    windows = union(window for p in timeline.typical for window in exchanges(p, timeline.graphs[p.graph]))
    return length(windows), length(common(windows, computing))


def exchanges(p: Replay, graph: Sequence[Vertex]) -> list[Interval]:
    """Return when each exchange of a pass began and ended."""
    windows = []
    for first, last in _runs(graph):
        moving = [(s, graph[n].type) for s in p.spans for n in s.nodes if first <= n < last and s.kind not in EARLY]
        sent = [s for s, kind in moving if kind == "send"]
        received = [s for s, kind in moving if kind == "receive"]
        if sent or received:
            begin = min((s.start for s in sent), default=_ready(p, graph, first))
            windows.append((begin, max(s.end for s in sent + received)))
    return windows


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


def _ready(p: Replay, graph: Sequence[Vertex], first: int) -> int:
    """The end of what was computed before an exchange and is not a middle."""
    before = (s.end for s in p.spans if s.kind in COMPUTE and s.nodes[0] < first and graph[s.nodes[0]].part != "middle")
    return max(before, default=p.start)
