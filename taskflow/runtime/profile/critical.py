"""The critical path: the longest chain of operations in which each had to wait for the one before, over all blocks.

However many processors and streams there were, a pass could not be shorter. What is not on the path may take longer
without anybody noticing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter

from taskflow.runtime.profile.timeline import Replay, Span, Timeline, Vertex, common, length, union

VertexKey = tuple[int, int]  # index of the block's timeline, number of the vertex
MEASURED = ("compute", "refresh")  # vertices that never wait while they work
BEFORE = {"receive": "send", "claim": "grant"}  # of a message, on the other block


def critical_path(timelines: Sequence[Timeline]) -> tuple[Counter[str], int]:
    """Return, over the typical passes that all blocks did, the nanoseconds of each kind of operation on the critical
    paths, and those of the passes themselves.
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
            if span.kind == "compute":  # done at once
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
    """Yield the path from its end, with what each of its places adds to it."""
    at, late = max(reached, key=reached.__getitem__, default=None), 0
    while at is not None:
        yield at, work[at] - late
        before = through.get(at)
        late = _late(before, at, done) if before is not None else 0
        at = before


def _late(before: VertexKey, place: VertexKey, done: Mapping[VertexKey, int]) -> int:
    """Return how long after an operation one ended that it waited for: a send may return after its message came."""
    return max(0, done[before] - done[place]) if before in done and place in done else 0


def joined(graphs: Sequence[Sequence[Vertex]]) -> dict[VertexKey, set[VertexKey]]:
    """Return for which vertices each vertex waits: in its block, for its message, for the shares of an all-reduce."""
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
    """Return the time that an operation takes itself: if it waits, from when all that it waits for was done."""
    if vertex.type in MEASURED:
        return sum(span.length for span in spans)
    since = union((span.start, span.end) for span in spans)
    return length(common(since, [(ready, max((end for _, end in since), default=ready))]))
