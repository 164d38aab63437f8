"""Timelines in the Chrome trace event format, which Perfetto (ui.perfetto.dev) reads.

One process per block, with a row for the host, for each stream, and for messages in flight to this block. Arrows lead
from the send of a message to its receive.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskflow.runtime.profile.timeline import Replay, Span, Timeline, Vertex

SENT = ("send", "signal")  # operations that release a message; a transfer without them ends with its copy
TAKEN = ("receive", "await")
TraceEvent = dict[str, Any]
ROWS = {"host": (0, "host"), "plain": (1, "stream plain"), "urgent": (2, "stream urgent")}
CHANNEL = 3  # the first row of messages; there are as many as concurrent messages


def write_chrome(path: Path, timelines: Sequence[Timeline]) -> None:
    """Write the timelines of all blocks to a JSON file. Raises OSError."""
    path.write_text(json.dumps(chrome(timelines)), encoding="utf-8")


def chrome(timelines: Sequence[Timeline]) -> TraceEvent:
    """Return the JSON object. Times are in microseconds since the first pass began, and events are sorted by time."""
    zero = min((p.start for timeline in timelines for p in timeline.passes), default=0)
    names = [event for timeline in timelines for event in _rows(timeline)]
    events = [event for timeline in timelines for event in _operations(timeline, zero)]
    channels, messages = _messages(list(flights(timelines)), zero)
    events = sorted([*events, *messages], key=lambda event: (event["ts"], -event.get("dur", 0.0)))
    blocks = {
        f"block {t.block}": {"host": t.host, "process": t.process, "device": t.device, "accuracy_ns": dict(t.accuracy)}
        for t in timelines
    }
    about = {"begin_ns_since_epoch": zero, "blocks": blocks}
    return {"traceEvents": [*names, *channels, *events], "displayTimeUnit": "ms", "otherData": about}


def _rows(timeline: Timeline) -> Iterator[TraceEvent]:
    block, tracks = timeline.block, {span.track for p in timeline.passes for span in p.spans}
    yield _meta(block, 0, "process_name", name=f"block {block} on {timeline.host}, {timeline.device}")
    yield _meta(block, 0, "process_sort_index", sort_index=block)
    for track, (row, name) in ROWS.items():
        if track in tracks:
            yield from _thread(block, row, name)


def _thread(block: int, row: int, name: str) -> Iterator[TraceEvent]:
    yield _meta(block, row, "thread_name", name=name)
    yield _meta(block, row, "thread_sort_index", sort_index=row)


def _meta(block: int, row: int, what: str, **arguments: Any) -> TraceEvent:
    return {"ph": "M", "pid": block, "tid": row, "name": what, "args": arguments}


def _operations(timeline: Timeline, zero: int) -> Iterator[TraceEvent]:
    for number, p in enumerate(timeline.passes):
        about: TraceEvent = {"pass": number, "first of its graph": p.fresh}
        yield _complete(timeline.block, 0, p.program, "pass", (p.start - zero, p.issued - zero), about)
        for span in p.spans:
            name, kind, about = _described(timeline, p, span)
            row, _ = ROWS[span.track]
            about |= {"pass": number, "operation": span.kind}
            yield _complete(timeline.block, row, name, kind, (span.start - zero, span.end - zero), about)


def _described(timeline: Timeline, p: Replay, span: Span) -> tuple[str, str, TraceEvent]:
    """Return name, category and arguments of an operation."""
    kind = span.category or "order"
    if not span.nodes:
        return span.kind, kind, {}
    vertex = timeline.graphs[p.graph][span.nodes[0]]
    name = vertex.name if span.kind in ("compute", vertex.type) else f"{span.kind}: {vertex.name}"
    about = {"phase": vertex.phase, "part": vertex.part or vertex.type}
    return name, kind, about


def _complete(block: int, row: int, name: str, kind: str, when: tuple[int, int], about: TraceEvent) -> TraceEvent:
    start, end = when
    event: TraceEvent = {"ph": "X", "pid": block, "tid": row, "name": name, "cat": kind}
    return event | {"ts": start / 1e3, "dur": (end - start) / 1e3, "args": about}


def _messages(messages: Sequence[Flight], zero: int) -> tuple[list[TraceEvent], list[TraceEvent]]:
    """Place messages on the rows of their targets, each in the first free row, with arrows between their ends.

    Messages that would arrive before they were sent, because the clocks of two hosts disagree, are omitted.
    """
    names: list[TraceEvent] = []
    events: list[TraceEvent] = []
    busy: dict[int, list[int]] = defaultdict(list)  # per block: end of the last message of each row
    for number, m in enumerate(sorted(messages, key=lambda message: message.sent.start)):
        if m.received.end < m.sent.start:
            continue
        rows = busy[m.target]
        row = next((n for n, until in enumerate(rows) if until <= m.sent.start), len(rows))
        if row == len(rows):
            rows.append(0)
            names += _thread(m.target, CHANNEL + row, f"channel {row + 1}" if row else "channel")
        rows[row] = m.received.end
        when = m.sent.start - zero, m.received.end - zero
        name = f"{m.name} from {m.source}"
        events.append(_complete(m.target, CHANNEL + row, name, "message", when, {"source": m.source}))
        left = (m.sent.start + m.sent.end) / 2 - zero
        came = max((m.received.start + m.received.end) / 2 - zero, min(left, m.received.end - zero))
        arrow = {"cat": "message", "name": "message", "id": number}
        events.append(arrow | {"ph": "s", "pid": m.source, "tid": ROWS[m.sent.track][0], "ts": min(left, came) / 1e3})
        events.append(
            arrow | {"ph": "f", "bp": "e", "pid": m.target, "tid": ROWS[m.received.track][0], "ts": came / 1e3}
        )
    return names, events


@dataclass(frozen=True)
class Flight:
    """A message of one pass: its name, the span that sent it and the span that waited for it."""

    name: str
    source: int
    target: int
    sent: Span
    received: Span


def flights(timelines: Sequence[Timeline]) -> Iterator[Flight]:
    """Yield the messages of all passes for which both ends were recorded, pass by pass."""
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
            yield Flight(name.partition(" from")[0].removeprefix("receive "), *message[:2], sent[message], span)


def _transfers(graph: Sequence[Vertex], p: Replay) -> Iterator[tuple[Vertex, list[Span]]]:
    """Yield the sends and receives of a pass with their spans in time order."""
    spans_of: dict[int, list[Span]] = {}
    for span in p.spans:
        for n in span.nodes:
            if graph[n].type in ("send", "receive"):
                spans_of.setdefault(n, []).append(span)
    for n, spans in spans_of.items():
        yield graph[n], sorted(spans, key=lambda span: span.start)
