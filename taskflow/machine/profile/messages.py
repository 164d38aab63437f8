"""Messages between blocks, from the timelines of both of their ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taskflow.machine.profile.timeline import Pass, Span, Timeline, Vertex

SENT = ("send", "signal")  # what lets a message go; a transfer without them ends with its copy
TAKEN = ("receive", "await")


@dataclass(frozen=True)
class Carried:
    """A message of one pass: its name, the span that sent it and the one that waited for it."""

    name: str
    source: int
    target: int
    sent: Span
    received: Span


def carried(timelines: Sequence[Timeline]) -> Iterator[Carried]:
    """The messages of all passes of which both ends were seen, pass by pass."""
    for passes in zip(*(timeline.passes for timeline in timelines), strict=False):
        sent: dict[tuple[int, int, int], Span] = {}
        received: dict[tuple[int, int, int], tuple[str, Span]] = {}
        for timeline, p in zip(timelines, passes, strict=True):
            for vertex, spans in _transfers(timeline.graphs[p.graph], p):
                if vertex.message is not None and vertex.type == "send":
                    sent[vertex.message] = next((s for s in reversed(spans) if s.kind in SENT), spans[-1])
                elif vertex.message is not None:
                    received[vertex.message] = vertex.name, next((s for s in spans if s.kind in TAKEN), spans[0])
        for message in sorted(sent.keys() & received.keys()):
            name, span = received[message]
            yield Carried(name.partition(" from")[0].removeprefix("receive "), *message[:2], sent[message], span)


def _transfers(graph: Sequence[Vertex], p: Pass) -> Iterator[tuple[Vertex, list[Span]]]:
    """The sends and receives of a pass with their spans in the order of time."""
    found: dict[int, list[Span]] = {}
    for span in p.spans:
        for n in span.nodes:
            if graph[n].type in ("send", "receive"):
                found.setdefault(n, []).append(span)
    for n, spans in found.items():
        yield graph[n], sorted(spans, key=lambda span: span.start)
