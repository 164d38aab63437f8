"""Replays with CUDA graphs, on lanes and graphs of paper: what is enqueued when, and what is held back."""

from functools import partial

import pytest

from taskflow.runtime.machine.trace import traces
from taskflow.runtime.machine.trace.operation import Operation


class Paper:
    """A lane that notes in `done` what is enqueued."""

    asynchronous = True

    def __init__(self, name, done):
        self.name, self.done = name, done

    def event(self):
        return self.name

    def recorder(self, event):
        return lambda: self.done.append(f"{self.name} records {event}")

    def waiter(self, event):
        return lambda: self.done.append(f"{self.name} waits for {event}")


@pytest.fixture
def lanes(monkeypatch):
    """Two lanes and the list of what is done. A graph is told by its lane and what was recorded."""
    done = []

    def captured(lane, calls):
        return lambda: done.append((lane.name, [call() for call in calls if isinstance(call, partial)]))

    monkeypatch.setattr(traces, "captured", captured)
    return (Paper("plain", done), Paper("urgent", done)), done


def made(done, *expected):
    """Operations from (what, lane) or (what, lane, fixed); what the host does is told by its name."""

    def act(what, direct):
        if direct:
            done.append(what)
        return what

    return [
        Operation(
            partial(act, what, lane is None or not fixed), "record" if what == "record" else "compute", (), lane, fixed
        )
        for what, lane, fixed in ((*item, True)[:3] for item in expected)
    ]


def replayed(lanes, done, *expected):
    for call in traces.calls(made(done, *expected), lanes, graphs=True):
        call()
    return done


def test_a_pass_that_never_waits_is_one_graph(lanes):
    both, done = lanes
    assert replayed(both, done, ("a", 0), ("b", 1), ("c", 0)) == [("plain", ["a", "b", "c"])]


def test_before_the_host_does_something_all_is_enqueued(lanes):
    both, done = lanes
    result = replayed(both, done, ("a", 0), ("x", 1), ("b", 0), ("y", 1), ("host", None), ("c", 0), ("d", 0))
    assert result[2:-2] == [("plain", ["a", "b"]), ("urgent", ["x", "y"]), "host", ("plain", ["c", "d"])]


def test_before_a_launch_that_may_wait_on_the_host_both_lanes_are_enqueued(lanes):
    """A body in Python reads numbers that other blocks fold: they may wait for what this one has on its urgent lane."""
    both, done = lanes
    result = replayed(both, done, ("x", 1), ("y", 1), ("body", 0, False), ("a", 0), ("b", 0))
    assert result[2:-2] == [("urgent", ["x", "y"]), "body", ("plain", ["a", "b"])]
