"""Timelines made by hand, in nanoseconds."""

from taskflow.runtime.profile.timeline import Replay, Span, Timeline, Vertex

ACCURACY = {"host": 1, "device": 2, "stamp": 3}


def compute(task, *waits, part="whole"):
    return Vertex(f"{task}(p) {part}", "compute", task, part, None, waits)


def refresh(task, *waits):
    return Vertex("refresh p", "refresh", task, "", None, waits)


def send(task, source, target, *waits, number=0):
    return Vertex(f"send p to {target}", "send", task, "", (source, target, number), waits)


def receive(task, source, target, *waits, number=0):
    return Vertex(f"receive p from {source}", "receive", task, "", (source, target, number), waits)


def allreduce(task, *waits):
    return Vertex("max of m over all blocks", "allreduce", task, "", None, waits)


def host(start, end, kind, *nodes):
    return Span(start, end, "host", kind, nodes)


def plain(start, end, kind, *nodes):
    return Span(start, end, "plain", kind, nodes)


def urgent(start, end, kind, *nodes):
    return Span(start, end, "urgent", kind, nodes)


def replay(*spans, start=0, end=None, issued=None, calls=None, graph=0, fresh=False, program="step"):
    """A pass that begins at `start`; by default everything has been done when the last span ends."""
    end = max(s.end for s in spans) if end is None else end
    issued, calls = end if issued is None else issued, len(spans) if calls is None else calls
    return Replay(program, graph, fresh, start, end, issued, calls, spans)


def timeline(graph, *passes, block=0):
    return Timeline(block, "here", 1, "a device", ACCURACY, (tuple(graph),), passes)
