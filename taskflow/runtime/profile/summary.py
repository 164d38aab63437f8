"""The summary of a profile: plain numbers from the timelines of all blocks, for the report of a run.

Shares divide the time into compute, copy, communication and the rest, by phase (Jacobsen & Senocak 2013, figure 8).
Every instant belongs to one operation: one that computes, else one that copies, else one that communicates; among
equals, the first to begin. Work hidden behind computation therefore does not count, and the shares add up to the whole
time.

Overlap is the hidden fraction of the time of exchanges. An exchange of a block is all transfers at one moment of the
program, with all neighbours. It lasts from the beginning of its first packing to the end of its last unpacking; without
a send, from the end of the previous computation except middles. Concurrent computation of the same block hides it. The
rest is exposed, and is its only cost.

The critical path is the longest chain of operations over all blocks in which each had to wait for the previous one. It
bounds the time of a pass for any number of processors and streams. Operations off the path may take longer without
effect.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import groupby
from typing import Any

from taskflow.runtime.profile.timeline import (
    KINDS,
    Category,
    Interval,
    Replay,
    Span,
    Timeline,
    Vertex,
    common,
    length,
    union,
)

CATEGORIES = tuple(KINDS)
PhaseShare = tuple[str, Category]  # phase and category
EARLY = ("free", "post")  # work of the host before a transfer can begin
TRANSFERS = ("send", "receive", "refresh")
NS, US = 1e-9, 1e-3  # a nanosecond in seconds and in microseconds
VertexKey = tuple[int, int]  # index of the block's timeline, number of the vertex
MEASURED = ("compute", "refresh")  # vertices that never wait during their work
BEFORE = {"receive": "send", "claim": "grant"}  # dependences on the other block, for one message


def summarise(timelines: Sequence[Timeline]) -> dict[str, Any]:
    """Return shares, overlap, host cost and critical path of a profile, given the timelines of all blocks in order.

    - `passes`: number of typical passes, by program.
    - `seconds`: mean over the blocks, as all times except the critical path.
    - `shares` of that time: compute, copy, communication, and `rest`. `phases`: the same by task.
    - `overlap`: seconds of exchanges, seconds hidden behind computation, and the `fraction` (None without exchanges).
    - `host`: calls per pass, and the cost of one in microseconds (`call_microseconds`).
    - `critical_path`: its seconds, its share of the time, and its operations.

    Without a typical pass the result has only `passes`, empty.
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
    """Return the phases, longest first."""
    phases: Counter[str] = Counter()
    for (phase, _), nanoseconds in times.items():
        phases[phase] += nanoseconds
    return {
        phase: {category: times[phase, category] / whole for category in CATEGORIES}
        for phase, _ in phases.most_common()
    }


def _host(timelines: Sequence[Timeline]) -> dict[str, float]:
    """Return calls per pass, and the cost of one: the host's time in a pass, without its own work and waits."""
    passes = [p for timeline in timelines for p in timeline.typical]
    calls = sum(p.calls for p in passes)
    busy = sum(span.length for p in passes for span in p.spans if span.track == "host")
    cost = sum(p.issued - p.start for p in passes) - busy
    return {"calls_per_pass": calls / len(passes), "call_microseconds": cost / max(calls, 1) * US}


# ------------------------------------------------------------------------------------------- shares and overlap


def shares(timeline: Timeline) -> tuple[Counter[PhaseShare], int]:
    """Return nanoseconds by phase and category in the typical passes of a block, and of the passes themselves."""
    times: Counter[PhaseShare] = Counter()
    whole = 0
    for stretch in timeline.stretches():
        times.update(exclusive(_claims(timeline, stretch)))
        whole += max(p.end for p in stretch) - stretch[0].start
    return times, whole


def exclusive(claims: Iterable[tuple[Span, PhaseShare]]) -> Counter[PhaseShare]:
    """Return the time of each share, with every instant assigned to one of its spans."""
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
            kind = span.category
            if kind is not None:
                yield span, (timeline.graphs[p.graph][span.nodes[0]].phase if span.nodes else "nothing", kind)


def overlap(timeline: Timeline) -> tuple[int, int]:
    """Return the nanoseconds with at least one exchange in progress in the typical passes of a block, and the hidden
    ones.
    """
    computing = union((s.start, s.end) for p in timeline.passes for s in p.spans if s.kind == "compute")
    windows = union(window for p in timeline.typical for window in exchanges(p, timeline.graphs[p.graph]))
    return length(windows), length(common(windows, computing))


def exchanges(p: Replay, graph: Sequence[Vertex]) -> list[Interval]:
    """Return begin and end of each exchange of a pass."""
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
    """Yield the vertices [first, last) of each exchange: transfers at one moment are consecutive."""
    last = 0
    for moving, run in groupby(graph, lambda vertex: vertex.type in TRANSFERS):
        first, last = last, last + len([*run])
        if moving:
            yield first, last


def _ready(p: Replay, graph: Sequence[Vertex], first: int) -> int:
    """Return the end of all computation before an exchange except middles."""
    before = (
        s.end for s in p.spans if s.kind == "compute" and s.nodes[0] < first and graph[s.nodes[0]].part != "middle"
    )
    return max(before, default=p.start)


def critical_path(timelines: Sequence[Timeline]) -> tuple[Counter[str], int]:
    """Return the nanoseconds of each kind of operation on the critical paths of the typical passes that all blocks did,
    and of these passes.
    """
    operations: Counter[str] = Counter()
    duration = 0
    for passes in zip(*(timeline.passes for timeline in timelines), strict=False):
        if not any(p.fresh for p in passes):
            graphs = [timeline.graphs[p.graph] for timeline, p in zip(timelines, passes, strict=True)]
            for label, nanoseconds in path_of(graphs, passes):
                operations[label] += nanoseconds
            duration += max(p.end for p in passes) - min(p.start for p in passes)
    return operations, duration


def path_of(graphs: Sequence[Sequence[Vertex]], passes: Sequence[Replay]) -> list[tuple[str, int]]:
    """Return label and nanoseconds of each operation on the critical path of one pass of all blocks, first to last."""
    waits = joined(graphs)
    spans: dict[VertexKey, list[Span]] = defaultdict(list)
    for b, p in enumerate(passes):
        for span in p.spans:
            for n in span.nodes:
                spans[b, n].append(span)
            if span.kind == "compute":  # concurrent
                for n in span.nodes:
                    waits[b, n] -= {(b, m) for m in span.nodes}
    done = {place: max(span.end for span in spans_of) for place, spans_of in spans.items()}
    reached: dict[VertexKey, int] = {}
    work: dict[VertexKey, int] = {}
    through: dict[VertexKey, VertexKey] = {}
    for place in TopologicalSorter(waits).static_order():
        before = {m: reached[m] - _late(m, place, done) for m in waits[place] if m in reached}
        ready = max((done[m] for m in before if m in done), default=0)
        work[place] = _work(graphs[place[0]][place[1]], spans.get(place, []), ready)
        if before:
            through[place] = max(before, key=before.__getitem__)
        reached[place] = work[place] + max(before.values(), default=0)
    return [
        (graphs[b][n].label, nanoseconds)
        for (b, n), nanoseconds in _backwards(reached, work, through, done)
        if nanoseconds
    ][::-1]


def _backwards(
    reached: Mapping[VertexKey, int],
    work: Mapping[VertexKey, int],
    through: Mapping[VertexKey, VertexKey],
    done: Mapping[VertexKey, int],
) -> Iterator[tuple[VertexKey, int]]:
    """Yield the path from its end, with the contribution of each vertex."""
    at, late = max(reached, key=reached.__getitem__, default=None), 0
    while at is not None:
        yield at, work[at] - late
        before = through.get(at)
        late = _late(before, at, done) if before is not None else 0
        at = before


def _late(before: VertexKey, place: VertexKey, done: Mapping[VertexKey, int]) -> int:
    """Return the time by which a dependence ended after its dependent: a send may return after its message arrived."""
    return max(0, done[before] - done[place]) if before in done and place in done else 0


def joined(graphs: Sequence[Sequence[Vertex]]) -> dict[VertexKey, set[VertexKey]]:
    """Return the dependences of each vertex: in its block, its message, and the shares of an all-reduce."""
    waits: dict[VertexKey, set[VertexKey]] = {}
    messages: dict[tuple[str, tuple[int, int, int]], VertexKey] = {}
    reductions: dict[int, list[VertexKey]] = defaultdict(list)
    for b, graph in enumerate(graphs):
        count = 0
        for n, vertex in enumerate(graph):
            waits[b, n] = {(b, m) for m in vertex.waits}
            if vertex.message is not None:
                messages[vertex.type, vertex.message] = b, n
            if vertex.type == "allreduce":
                reductions[count].append((b, n))
                count += 1
    for b, graph in enumerate(graphs):
        for n, vertex in enumerate(graph):
            earlier = BEFORE.get(vertex.type)
            if earlier and vertex.message is not None and (earlier, vertex.message) in messages:
                waits[b, n].add(messages[earlier, vertex.message])
    for places in reductions.values():
        shares = {share for place in places for share in waits[place]}
        for place in places:
            waits[place] |= shares
    return waits


def _work(vertex: Vertex, spans: Sequence[Span], ready: int) -> int:
    """Return the own time of an operation: if it waits, from the end of its dependences."""
    if vertex.type in MEASURED:
        return sum(span.length for span in spans)
    since = union((span.start, span.end) for span in spans)
    return length(common(since, [(ready, max((end for _, end in since), default=ready))]))
